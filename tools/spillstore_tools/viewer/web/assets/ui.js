// The one script of the pages: what all of them do, and behind it the page of a log (`startLog`).
const byId = (id) => document.getElementById(id);
let silence;

/** Say something for a moment, to readers of the screen too. */
function tell(words) {
  const told = byId("told");
  told.textContent = words;
  told.classList.add("on");
  clearTimeout(silence);
  silence = setTimeout(() => told.classList.remove("on"), 3500);
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `spillstore-theme=${root.dataset.theme}; Path=/; SameSite=Strict; Max-Age=31536000`;
  document.dispatchEvent(new Event("theme"));
}

function showKeys() {
  const keys = byId("keys");
  if (keys.open) keys.close();
  else keys.showModal();
}

/** Move the mark in a table of links. */
function step(by) {
  const rows = [...document.querySelectorAll(".scroll tbody tr")];
  if (!rows.length) return;
  const at = rows.findIndex((row) => row.classList.contains("here"));
  const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  rows[at]?.classList.remove("here");
  next.classList.add("here");
  next.querySelector("a")?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const go = (name) => byId(`to-${name}`)?.click();
const general = { "?": showKeys, T: switchTheme, s: () => go("sessions"), h: () => go("artifacts"), u: () => go("audit"), c: () => go("charts") };
const ofTables = {
  j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1),
  "/": () => document.querySelector(".filters input:not([type=hidden])")?.focus(),
};

/** Run the function of a key; `keys` come before those of all pages. */
function listen(keys) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = event.target.closest("input, select, textarea");
    if (event.key === "Escape") {
      if (field) field.blur();
      keys.Escape?.();
      return;
    }
    if (field || byId("keys").open && event.key !== "?") return;
    const found = keys[event.key] ?? general[event.key];
    if (!found) return;
    event.preventDefault();
    found(event);
  });
}

byId("theme").addEventListener("click", switchTheme);
byId("help").addEventListener("click", showKeys);

// The page of a log: a window of rows over as many as there are.
//
// An element cannot be higher than some 16 to 33 million pixels, so the spacer that gives the scroll bar its length has ten million at most.
// What is shown is decided by `top`, the index of the first row; the scroll bar follows it and leads it only when somebody moves the thumb.
// Wheel and keys therefore move by exact lines however many there are. The server writes the rows; here they are put in and marked.
function startLog() {
  const SPACER = 10_000_000, BLOCK = 60, MOST = 120, KEPT = 60;
  const scroller = byId("scroller"), spacer = byId("spacer"), pane = byId("window"), rows = byId("rows"), map = byId("map"), main = byId("main");
  const hexed = scroller.dataset.hex === "1", HEX = 16;
  const parser = new DOMParser();
  const blocks = new Map();
  const asked = new Set();
  const query = new URLSearchParams(location.search);
  const say = new Intl.NumberFormat("en");
  let total = +scroller.dataset.total, state = scroller.dataset.state, generation = 0;
  let size = +scroller.dataset.size, top = 0, rest = 0, expected = 0, height = 20, follow = false, queued = false;
  let picked = null, found = -1, pattern = "", search = null, following = null;
  let marks = { seen: [], reads: [], hits: [], telling: [] };

  const address = (path, more = {}) => {
    const values = new URLSearchParams(query);
    for (const [name, value] of Object.entries(more)) if (value === null || value === "") values.delete(name); else values.set(name, value);
    return `${path}?${values}`;
  };

  async function ask(path, more) {
    const answer = await fetch(address(path, more));
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({ error: answer.statusText }))).error);
    return answer.json();
  }

  /** Try something that asks the server, and say what went wrong. */
  const tried = (work) => async (...given) => { try { return await work(...given); } catch (error) { tell(error.message); } };

  // --- the window ------------------------------------------------------------------------------------------------

  // A wrapped line is as high as it needs, so `inner` says how many pixels of the first row stand above the window, any row may be the
  // first, and what is the last page is known when its rows are drawn.
  const wraps = () => main.classList.contains("wrap");
  const room = () => Math.max(1, Math.floor(scroller.clientHeight / height));
  const last = () => Math.max(0, total - (wraps() ? 1 : room()));
  const high = () => rows.firstElementChild?.offsetHeight ?? height;
  let inner = 0, ending = false;

  /** How many rows are shown whole. */
  function visible() {
    if (!wraps()) return room();
    const end = pane.scrollTop + pane.clientHeight;
    return Math.max(1, [...rows.children].filter((row) => row.offsetTop + row.offsetHeight <= end).length);
  }

  function measure() {
    pane.style.height = `${scroller.clientHeight}px`;
    const whole = Math.max(total * height, scroller.clientHeight);
    spacer.style.height = `${Math.min(whole, SPACER) - scroller.clientHeight}px`;
    scroller.classList.toggle("exact", whole > SPACER || wraps());
  }

  /** Put the thumb where `top` is. */
  function thumb() {
    const spare = scroller.scrollHeight - scroller.clientHeight;
    expected = last() ? Math.round((top / last()) * spare) : 0;
    if (Math.abs(scroller.scrollTop - expected) > 0.5) scroller.scrollTop = expected;
    expected = scroller.scrollTop;
  }

  function move(to) {
    top = Math.max(0, Math.min(last(), Math.round(to)));
    inner = 0;
    thumb();
    draw();
  }

  /** Move by lines of the screen. */
  function moveLines(by) {
    if (!wraps()) return move(top + by);
    for (let left = Math.abs(by); left; left--) {
      if (by > 0) {
        if (inner + height < high() - 1) inner += height;
        else if (top < last()) { top++; inner = 0; }
      } else if (inner > 0) inner = Math.max(0, inner - height);
      else if (top > 0) { top--; place(); inner = Math.max(0, high() - height); }
      place();
    }
    thumb();
    drawNow();
  }

  function toEnd() {
    ending = wraps();
    move(total - room());
  }

  /** Make the last page of wrapped lines end with the last of them. */
  function fit() {
    ending = false;
    let space = pane.clientHeight;
    inner = 0;
    top = total;
    for (const row of [...rows.children].reverse()) {
      if (space <= 0) break;
      top--;
      inner = Math.max(0, row.offsetHeight - space);
      space -= row.offsetHeight;
    }
    thumb();
    drawNow();
  }

  function draw() {
    if (queued) return;
    queued = true;
    requestAnimationFrame(() => { queued = false; drawNow(); });
  }

  /** Put the rows into the window. */
  function place() {
    const count = Math.min(MOST, room() + 2, total - top);
    const shown = [];
    for (let index = top; index < top + count; index++) shown.push(rowAt(index));
    rows.replaceChildren(...shown);
    pane.scrollTop = inner;
  }

  function drawNow() {
    place();
    if (ending && total && !rows.querySelector(".waiting")) return fit();
    byId("position").textContent = total ? `${say.format(top + 1)}–${say.format(Math.min(total, top + visible()))} of ${say.format(total)} rows · ${Math.round(100 * (last() ? top / last() : 1))}%` : "nothing yet";
    paint();
  }

  function rowAt(index) {
    const block = Math.floor(index / BLOCK);
    const known = blocks.get(block)?.[index % BLOCK];
    if (!known) {
      load(block);
      const empty = document.createElement("div");
      empty.className = "row waiting";
      empty.textContent = "…";
      return empty;
    }
    const line = numberOf(known);
    known.classList.toggle("picked", picked !== null && line >= picked[0] && line <= picked[1]);
    known.classList.toggle("found", index === found);
    return known;
  }

  const load = tried(async (block) => {
    if (asked.has(block)) return;
    asked.add(block);
    const mine = generation;
    try {
      const answer = await ask("/log/rows", { from: block * BLOCK, count: BLOCK, pattern });
      if (mine !== generation) return;
      const page = parser.parseFromString(answer.rows, "text/html");
      blocks.delete(block);
      blocks.set(block, [...page.body.children].map((row) => document.adoptNode(row)));
      for (const old of [...blocks.keys()].slice(0, Math.max(0, blocks.size - KEPT))) blocks.delete(old);
      grown(answer);
    } finally {
      if (mine === generation) asked.delete(block);
    }
    draw();
  });

  /** Forget what was loaded, for it is shown in another way now. */
  function forget() {
    generation++;
    blocks.clear();
    asked.clear();
    draw();
  }

  function grown(facts) {
    const before = total;
    state = facts.state;
    size = facts.size;
    if (facts.total !== total) {
      total = facts.total;
      if (total > before) blocks.delete(Math.floor(Math.max(0, before - 1) / BLOCK)); else forget();
      measure();
      thumb();
    }
    byId("state").textContent = state;
    byId("state").className = `state ${state}`;
  }

  // --- moving -----------------------------------------------------------------------------------------------------

  scroller.addEventListener("wheel", (event) => {
    if (event.ctrlKey || event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? event.deltaY : event.deltaMode === 2 ? event.deltaY * visible() : event.deltaY / height;
    rest += lines;
    const whole = Math.trunc(rest);
    rest -= whole;
    if (whole) { stopFollowing(); moveLines(whole); }
  }, { passive: false });

  scroller.addEventListener("scroll", () => {
    if (Math.abs(scroller.scrollTop - expected) < 1) return;
    expected = scroller.scrollTop;
    const spare = scroller.scrollHeight - scroller.clientHeight;
    top = Math.round((spare ? scroller.scrollTop / spare : 0) * last());
    inner = 0;
    stopFollowing();
    draw();
  });

  let touched = null;
  scroller.addEventListener("touchstart", (event) => { touched = scroller.classList.contains("exact") ? event.touches[0].clientY : null; }, { passive: true });
  scroller.addEventListener("touchmove", (event) => {
    if (touched === null) return;
    const by = Math.trunc((touched - event.touches[0].clientY) / height);
    if (by) { touched -= by * height; moveLines(by); }
  }, { passive: true });

  function show(index, mark = true) {
    stopFollowing();
    if (mark) found = index;
    if (index < top || index >= top + visible() - (wraps() ? 0 : 1)) move(wraps() ? index : index - Math.floor(room() / 3));
    else draw();
  }

  const goTo = tried(async (text) => {
    const words = text.trim();
    if (!words) return;
    const time = /^(?:(\d+(?:\.\d+)?)h)?\s*(?:(\d+(?:\.\d+)?)m)?\s*(?:(\d+(?:\.\d+)?)s)?$/.exec(words);
    let place;
    if (words.endsWith("%")) place = { percent: words.slice(0, -1) };
    else if (time) place = { time: String((time[1] ?? 0) * 3600 + (time[2] ?? 0) * 60 + +(time[3] ?? 0)) };
    else place = { line: words.replace(/^L/i, "") };
    show((await ask("/log/go", place)).row);
  });

  const next = tried(async (what, by) => {
    const from = found >= top && found < top + visible() ? found : by > 0 ? top - 1 : top + visible();
    let at = from;
    for (;;) {
      const answer = await ask("/log/next", { what, from: at, by, pattern: what === "match" ? pattern : null });
      if (answer.row !== null) return show(answer.row);
      if (answer.done) return tell(`no ${by > 0 ? "further" : "earlier"} ${{ match: "match", telling: "line that matters", seen: "edge of what the model saw", read: "place that was read later" }[what]}`);
      at = answer.at;
    }
  });

  // --- search -----------------------------------------------------------------------------------------------------

  function find(text) {
    search?.close();
    search = null;
    pattern = "";
    marks.hits = [];
    const said = byId("found");
    said.className = "";
    said.textContent = "";
    forget();
    if (!text) { history.replaceState(null, "", location.href.split("#")[0] + location.hash); paint(); return; }
    let jumped = false;
    search = new EventSource(address("/log/search", { pattern: text }));
    search.onmessage = (event) => {
      const facts = JSON.parse(event.data);
      if (facts.error) { said.className = "bad"; said.textContent = facts.error; }
      else {
        if (!pattern) { pattern = text; forget(); }
        marks.hits = facts.map;
        said.textContent = `${say.format(facts.lines)} ${facts.lines === 1 ? "line" : "lines"}` + (facts.done ? "" : ` · ${Math.floor(facts.share * 100)}%`);
        if (!jumped && facts.lines) { jumped = true; next("match", 1); }
        paint();
      }
      if (facts.done || facts.error) search?.close();
    };
    search.onerror = () => { said.className = "bad"; said.textContent = "the search has ended: the server does not answer"; search?.close(); };
  }

  // --- follow -----------------------------------------------------------------------------------------------------

  function stopFollowing() {
    if (!follow) return;
    follow = false;
    press("follow", false);
  }

  function startFollowing() {
    follow = !follow;
    press("follow", follow);
    if (follow) { measure(); toEnd(); }
  }

  function watch() {
    if (state !== "open") return;
    following = new EventSource(address("/log/follow"));
    following.onmessage = (event) => {
      const facts = JSON.parse(event.data);
      if (facts.error) { tell(facts.error); following.close(); return; }
      grown(facts);
      byId("amount").textContent = facts.amount;
      if (follow) toEnd(); else draw();
      if (state !== "open") { following.close(); forget(); }
    };
  }

  // --- marks ------------------------------------------------------------------------------------------------------

  const press = (id, on) => byId(id)?.setAttribute("aria-pressed", on);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function toggle(id, name) {
    const on = main.classList.toggle(name);
    press(id, on);
    requestAnimationFrame(() => { measure(); move(top); });
  }

  /** The map beside the scroll bar: what the model saw, what was read later, what was found, and the window. */
  function paint() {
    const scale = devicePixelRatio || 1, width = map.clientWidth, tall = map.clientHeight;
    if (!width || !tall) return;
    map.width = width * scale;
    map.height = tall * scale;
    const pen = map.getContext("2d");
    pen.scale(scale, scale);
    const probe = document.createElement("i");
    map.after(probe);
    const resolved = (name) => { probe.style.color = `var(${name})`; return getComputedStyle(probe).color; };
    const tracks = [[marks.seen, resolved("--seen"), 0.35], [marks.reads, resolved("--read"), 0.2], [marks.hits, resolved("--a"), 0.45]];
    const frame = resolved("--dim");
    probe.remove();
    let left = 2;
    for (const [values, style, share] of tracks) {
      const wide = (width - 4) * share;
      pen.fillStyle = style;
      const most = Math.max(1, ...values);
      values.forEach((value, index) => {
        if (!value) return;
        pen.globalAlpha = 0.45 + 0.55 * value / most;
        pen.fillRect(left, index / values.length * tall, wide - 1.5, Math.max(2, tall / values.length));
      });
      left += wide;
    }
    pen.globalAlpha = 1;
    if (size > 0 && rows.firstElementChild?.dataset.b) {
      const shown = [...rows.children].slice(0, visible()).filter((row) => row.dataset.b);
      const low = +shown[0].dataset.b / size, high = +shown.at(-1).dataset.b / size;
      pen.strokeStyle = frame;
      pen.strokeRect(0.5, Math.min(tall - 4, low * tall) + 0.5, width - 1, Math.max(3, (high - low) * tall) - 1);
    }
  }

  map.addEventListener("click", tried(async (event) => {
    const byte = Math.floor(event.offsetY / map.clientHeight * size);
    show((await ask("/log/go", { byte })).row, false);
  }));

  async function loadMarks() {
    const answer = await ask("/log/marks", {});
    Object.assign(marks, answer);
    paint();
  }

  // --- lines: permalinks, copy, save ------------------------------------------------------------------------------

  /** What a row is called by: its line, or its first byte where rows are bytes. */
  function numberOf(row) { return +(hexed ? row.dataset.b : row.dataset.n); }

  function pick(first, end) {
    picked = [Math.min(first, end), Math.max(first, end)];
    const several = picked[1] > picked[0], unit = hexed ? "byte" : "line";
    history.replaceState(null, "", `#${hexed ? "B" : "L"}${picked[0]}${several ? `-${picked[1]}` : ""}`);
    byId("lines").textContent = several ? `${unit}s ${say.format(picked[0])}–${say.format(picked[1])}` : `${unit} ${say.format(picked[0])}`;
    draw();
  }

  function unpick() {
    picked = null;
    found = -1;
    byId("lines").textContent = "";
    history.replaceState(null, "", location.pathname + location.search);
    draw();
  }

  rows.addEventListener("click", (event) => {
    const rest = event.target.closest("[data-line]");
    if (rest) { location.href = address("/line", { line: rest.dataset.line }); return; }
    const number = event.target.closest(".n");
    if (!number) return;
    event.preventDefault();
    const line = numberOf(number.closest(".row"));
    if (event.shiftKey && picked) pick(picked[0], line); else pick(line, line);
  });

  const fromHash = tried(async () => {
    const named = /^#([LB])(\d+)(?:-[LB]?(\d+))?$/.exec(location.hash);
    if (!named || (named[1] === "B") !== hexed) return;
    const { row } = await ask("/log/go", hexed ? { byte: named[2] } : { line: named[2] });
    pick(+named[2], +(named[3] ?? named[2]));
    move(wraps() ? row : row - Math.floor(room() / 3));
  });

  /** The lines that are meant: those that were picked, else those that are shown. */
  function meant() {
    if (!picked && rows.querySelector(".waiting")) throw new Error("these lines are not here yet; try again");
    const shown = [...rows.children].slice(0, visible()).filter((row) => hexed ? row.dataset.b : row.dataset.n);
    const [first, end] = picked ?? (shown.length ? [numberOf(shown[0]), numberOf(shown.at(-1))] : hexed ? [0, 0] : [1, 1]);
    return hexed ? { start: first, end: end + HEX } : { first, last: end };
  }

  const copy = tried(async () => {
    const { call } = await ask("/log/call", meant());
    try { await navigator.clipboard.writeText(call); tell(`copied: ${call}`); }
    catch { tell(call); }
  });

  const save = tried(async () => { location.href = address("/save", meant()); });

  // --- begin ------------------------------------------------------------------------------------------------------

  const streams = ["combined", "stdout", "stderr"];
  const choose = (stream) => { location.href = address("/log", { stream: stream === "combined" ? null : stream }); };
  const page = (by) => { stopFollowing(); moveLines(by * Math.max(1, room() - 1)); };
  const line = (by) => { stopFollowing(); moveLines(by); };
  const side = (by) => { pane.scrollLeft += by; };
  const actions = {
    seen: () => toggle("seen", "seeing"), times: () => toggle("times", "times"), wrap: () => toggle("wrap", "wrap"),
    ansi: () => { const raw = query.get("raw") ? null : "1"; if (raw) query.set("raw", raw); else query.delete("raw"); press("ansi", !raw); forget(); },
    follow: startFollowing, copy, save, help: () => {}, previous: () => next("match", -1), forward: () => next("match", 1),
    earlier: () => next("telling", -1), later: () => next("telling", 1),
  };
  const keys = {
    j: () => line(1), k: () => line(-1), ArrowDown: () => line(1), ArrowUp: () => line(-1), ArrowLeft: () => side(-80), ArrowRight: () => side(80),
    PageDown: () => page(1), PageUp: () => page(-1), " ": (event) => page(event.shiftKey ? -1 : 1), b: () => page(-1),
    g: () => { stopFollowing(); move(0); }, G: toEnd, Home: () => { stopFollowing(); move(0); }, End: toEnd,
    ":": () => byId("go-to").focus(), "/": () => { byId("pattern").focus(); byId("pattern").select(); },
    n: () => next("match", 1), N: () => next("match", -1), e: () => next("telling", 1), E: () => next("telling", -1), v: () => next("seen", 1), V: () => next("seen", -1), r: () => next("read", 1), R: () => next("read", -1),
    m: actions.seen, t: actions.times, w: actions.wrap, a: actions.ansi, f: startFollowing, y: copy, x: save,
    d: () => byId("changes")?.click(), 0: () => choose(streams[0]), 1: () => choose(streams[1]), 2: () => choose(streams[2]), Escape: unpick,
  };

  function start() {
    const probe = rows.querySelector(".row");
    if (probe) height = probe.getBoundingClientRect().height || height;
    listen(keys);
    for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => actions[button.dataset.do]());
    byId("search").addEventListener("submit", (event) => { event.preventDefault(); find(byId("pattern").value); byId("pattern").blur(); });
    byId("jump").addEventListener("submit", (event) => { event.preventDefault(); goTo(byId("go-to").value); byId("go-to").blur(); });
    new ResizeObserver(() => { measure(); move(top); }).observe(scroller);
    addEventListener("hashchange", fromHash);
    document.addEventListener("theme", paint);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
    measure();
    main.classList.add("seeing");
    document.documentElement.dataset.ready = "1";
    top = +scroller.dataset.first;
    move(top);
    fromHash();
    tried(loadMarks)();
    if (query.get("pattern")) { byId("pattern").value = query.get("pattern"); const text = query.get("pattern"); query.delete("pattern"); find(text); }
    watch();
  }

  start();
}

if (byId("scroller")) startLog();
else listen(ofTables);
