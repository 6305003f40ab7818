// context-mode's ContentStore behind lines of JSON: node context_mode.mjs PACKAGE DATABASE
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, database] = process.argv.slice(2);
const { ContentStore } = await import(pathToFileURL(path.join(folder, "build", "store.js")));
const store = new ContentStore(database);
const actions = {
  index: ({ text }) => store.indexPlainText(fs.readFileSync(text, "utf8"), "run").totalChunks,
  search: ({ query }) => store.searchWithFallback(query, 10, "run").map((found) => found.content),
  all: () => store.getChunksBySource(1).map((found) => found.content),
};
for await (const line of readline.createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  try {
    console.log(JSON.stringify({ answer: actions[question.do](question) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
store.close();
