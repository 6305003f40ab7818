"""What values look like, and their parts: expressions that Python asks, each with a text that it fits and one that it does not."""

from __future__ import annotations

from spillstore.redaction.tables import classes, values
from spillstore.runtime import lazy_patterns as re

EXAMPLES: list[
    tuple[re.Pattern[bytes], str, str, str]
] = []  # a shape, the two texts, and the method that is asked


def _shape(
    expression: bytes, fits: str, other: str, asked: str = "fullmatch", flags: int = 0
) -> re.Pattern[bytes]:
    """An expression and its examples."""
    pattern = re.compile(expression, flags)
    EXAMPLES.append((pattern, fits, other, asked))
    return pattern


# --- of values behind names ---
UUID = _shape(classes.UUID.encode(), "1b4e28ba-2fa1-11d2-883f-0016d3cca427", "1b4e28ba-2fa1-11d2-883f")
PATH = _shape(
    rb"(?:[A-Za-z]:\\|~?/|\.{1,2}/|[A-Za-z]\w*/)[\w.@+ -]*(?:[/\\][\w.@+ -]*)*(?::[A-Za-z]+)?",
    "./src/main.py",
    "src/ma:7",
)
ABSOLUTE = _shape(
    rb"(?:~|/(?:root|home|etc|usr|var|opt|tmp|run|srv|mnt|app|data|private|Users|workspace))(?:/[\w.@+-]{1,19})+",
    "/etc/ssl/private.key",
    "/etcetera/x",
)
CODE = _shape(
    rb"[A-Za-z_$@][\w$]*+(?:(?:[!?]?(?:\.|->|::)|[!?]\?\.)[A-Za-z_$][\w$]*+)*[!?]?(?:[(\[{<].*|\.)?",
    "self.find(name)",
    "name 7",
)
NUMBERED = _shape(
    rb"(?i)(?:my|new|old|raw|the|user|test|hashed|encoded|plain)?_?(?:password|passwd|pass|pwd|pw|secret|token|key|value|val|str|buf|p|s|t|k)_?\d{1,2}",
    "my_password2",
    "my_password",
)
PIECE = _shape(f"{classes.PIECE}+".encode(), "kittens", "kit-tens")
CAMEL = _shape(rb"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]", "Kittens", "kitTens")
WORDY = _shape(rb"(?:[A-Za-z]{1,16}\d{0,3}|\d{1,4}|[vVxX]\d+)", "kittens12", "1kittens")
PROSE = _shape(
    rb"(?i)\b(?:password|passwd|secret|token|passphrase|key|enter|your|please|the|is|are|must|invalid|required|wrong|not|forgot\w*|reset|new|"
    rb"confirm|for|with|this|that|and|or|to|of|a|an|in|on|if|from|no|use|used|set|by)\b",
    "a token is wrong",
    "tokens!",
    "search",
)
ALPHABET = _shape(rb"(?i)abcdefgh|stuvwxyz|01234567", "x01234567", "x0123", "search")
# names with dots between them, and no token with an id of six letters
DOTTED = _shape(
    rb"(?![A-Za-z0-9]{6}\.(?=[A-Za-z]*\d)[A-Za-z0-9]{16}\Z)\.?[A-Za-z_]+(?:(?:\.|->|::)[A-Za-z_]\w*)+",
    "config.name",
    "config.abcdefghijklmn12",
)
# Of a password, of a secret. A word is looked for once, ahead, so that many of them take no longer.
SPOKEN = _shape(
    rb"(?i)(?=[a-z_./#-]*?(?:password|passwd|passphrase))[a-z_./#-]*+(?:(?<=\.)\d\w*+)?:?",
    "login.password",
    "login.name",
)
NAMED = _shape(
    rb"(?i)(?:v\d)?(?=[a-z_.-]*?(?:secret|key|token|password))[a-z_.-]*+(?:v?\d{1,2})?",
    "v2user_token",
    "v2user_name",
)
NUMBER = _shape(values.NUMBER.encode(), "1,024", "1k")
FILE = _shape(rb"\.[A-Za-z]\w{0,4}$|/$", "x/main.py", "x/main", "search")
INNER = _shape(rb"(?=.{16}).*[A-Za-z]\d+[A-Za-z].*", "abcdefghijklmn7op", "abcdefghijklmnop7")
VOWELLESS = _shape(rb"[b-df-hj-np-tv-xzB-DF-HJ-NP-TV-XZ]{3,}", "bcd", "bad")
PROGRAM = _shape(
    rb"=>|\)\{|\}[}=,;.a-z]|\)[,;.:]|[\w$]\(|&&|\|\||[+:]=|;\w+[{ ]|\?\w+:\w+|\?[.?]|=!|^!\(",
    "f(x)",
    "f x",
    "search",
)
CONSTANT = _shape(rb"[A-Z]+(?:_[A-Z\d]+)+", "MAX_SIZE_2", "MAX")
FILLED = _shape(
    rb"%\d\$[sd@]|%[sd@]|\$\d|(?<=[ (])\d{1,3}(?:(?:-|\xe2\x80[\x93\x94])\d{1,3})?(?=[ ).,;:!%]|\Z)|\{\{[^{}]{0,64}\}\}|\[\[[^\[\]]{0,64}\]\]|</?[a-z]{1,10}/?>|\\{1,8}[\"'nrt]|''",
    "{{name}}",
    "{name}",
)
MESSAGE = _shape(
    rb"[A-Za-z-]+[:.?]|[A-Za-z(<'\"][A-Za-z.,:;!?'\"()<>/%-]*(?: +[A-Za-z.,:;!?'\"()<>/%-]+)+",
    "Enter it here!",
    "enter7",
)
# letters of Chinese, Japanese or Korean, and small numbers
HAN = _shape(
    rb"(?>\d{1,3}(?!\d)|[^A-Za-z\d\x80-\xff])*+(?:[\xe3-\xed][\x80-\xbf]{2}(?>\d{1,3}(?!\d)|[^A-Za-z\d\x80-\xff])*+)+",
    "\xe8\x87\xb3\xe5\xb0\x918\xe4\xbd\x8d",
    "\xe8\x87\xb3a8",
)
HYPHENATED = _shape(rb"[a-z]+(?:[-/][a-z]+)*(?:-v?\d{1,2})?", "my-first-cat-v2", "my_first_cat")
# of a key that Django makes: fifty characters of all sorts but capitals, ten signs at least
OF_ALL_SIGNS = _shape(
    rb"(?=(?:[a-z0-9]*+[!@#$%^&*()_=+-]){10})(?=[^0-9]*[0-9])(?=[^a-z]*[a-z])[a-z0-9!@#$%^&*()_=+-]{40,64}",
    "k7#m(2v=x9&q!w_5)t+b8*z^d3-f6%h1@j4$r0#n(p2s=u7&y!",
    "hash = (hash << 5) + (seed ^ value) * 31 & 255 - k",
)
CAMELS = _shape(classes.CAMELS.encode(), "MyURLForCats", "xKqTTbYe")
CLUSTER = _shape(rb"[bcdfghjklmnpqrstvwxz]{6}", "abcdfghz", "abcdefgh", "search")
_VERSION = rb"[\^~<>=v!]{0,3} ?\d+(?:\.(?:\d+|[x*]))+(?:[-.+]?(?:alpha|beta|rc|pre|dev|next|canary|snapshot|post|final)[.\d-]*)?[-+]?"
VERSION = _shape(rb"(?i)%b(?: (?:\|\|? |- )?%b)*" % (_VERSION, _VERSION), ">=1.4.0-rc.1 <2.0.x", "^10")
MIXED = _shape(rb"(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{6,}", "abc123", "abcdef")
CHOSEN = _shape(rb".{10,}|.*[^A-Za-z_.].*", "kit7ten", "kitten", flags=re.DOTALL)
# of a PIN; no year
CODE_DIGITS = _shape(rb"(?!(?:19|20)\d\d\Z)\d{4,10}", "4711", "2024")
LETTER = _shape(rb"[A-Za-z]", "7a", "7!", "search")
KEY = _shape(f"{classes.KEY}+".encode(), "aB7/+=", "aB7 x")
MISMATCHED = _shape(rb"[ \t].*|.*[ \t]|[,;:)\]}+].*[ \t].*", ", a b", "a b", flags=re.DOTALL)
DIGIT = _shape(rb"\d", "a7", "a!", "search")
LATIN = _shape(
    rb"(?:[!-~]*[A-Za-z][\xc0-\xff]{1,2}(?![\xa0-\xff]))+[!-~]*|[\xc0-\xff][!-~]+", "paßw7", "pa w7"
)
# of a token: digits in several places
PART = _shape(rb"(?=[^\d]*\d+[^\d]+\d)[A-Za-z0-9_-]{18,}", "a1b2cdefghijklmnop", "a1bcdefghijklmnopq")
WORD = _shape(rb"[A-Z][a-z]{5}", "7Kittens", "7kittens", "search")
TYPE = _shape(rb"(?:[A-Z][a-z]{2,}){3,}\d+", "BigCatName2", "BigCat2")
# a hash behind words, as in the key of a cache
HASHED = _shape(
    rb"(?i)(?:\w[\w.]*+[-/:#])*(?:[A-Za-z][\w.]*\.)?(?<=[-/:.#])(?:[0-9a-f]{32,64}|0?[0-9a-f]{16}|%b)"
    % classes.UUID.encode(),
    "cache:0123456789abcdef",
    "cache-0123",
)
PUNCTUATION = _shape(rb"[!-/:-@\[-`{-~]", "!", "a")
SMALL_WORD = _shape(rb"[a-z]{7}", "7kittens", "7Kittens", "search")
HEX = _shape(rb"(?:0x)?(?:[0-9a-f]+|[0-9A-F]+)", "0x7f3a", "7f3A")
TYPED = _shape(
    rb"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])(?=[^\d]*\d)(?:[A-Za-z\d!@#%^&*+?~:_.-]|=(?=[A-Za-z]?\Z)){8,64}",
    "Kittens7",
    "kittens7",
)
SIGN = _shape(rb"[!@#%^&*+?~=]", "a!", "a-", "search")
# of a password, and not of a program's conditions
TYPED_SIGN = _shape(rb"[!@#%^&*+~=]", "a!", "a?", "search")
# signs of escapes, addresses, classes of letters, masks and base64, and words of manuals; not of passwords
NO_SIGN = _shape(
    rb"%[0-9A-Fa-f]{2}|[?&][\w.-]+=|[Aa]-[Zz]|0-9|\*{3}|(?i:p[a@4][s$]{2}w|s[e3]cret|example|qwert)|\A[A-Za-z0-9+/]{21,}={0,2}\Z",
    "a%3Ab",
    "a%b",
    "search",
)
BASE64 = _shape(rb"[A-Za-z0-9+/]{16,}={0,2}", "Ab3/Cd4+Ef5aGh6iJk7==", "Ab3/Cd4")
ID_OF_A_KIND = _shape(rb"[a-z]{1,8}_[A-Za-z0-9]+\Z|[A-Za-z]{2}\d\.[0-9a-f]+\Z", "evt_1eCed", "evt_1e.Ced")
# as people make one that must have all kinds of letters
WORD_AND_NUMBER = _shape(
    rb"[A-Za-z][a-z]{2,15}\d{3,4}[!@#%^&*+?~=:_.-][A-Za-z\d]{0,2}", "Kitten1987.x", "Kitten19.x"
)
JOINTS = _shape(rb"[_.:>-]", "_", "a")
SHORT_WORDS = _shape(rb"[A-Za-z][a-z]{2,}", "Kit", "KIt")
NAMED_SO = _shape(
    rb".*\.(?:[a-z][a-z0-9]{1,5}|[A-Z][A-Z0-9]{1,5})|.*@[\w-]+\.[\w.-]+|(?i:(?:.*[^A-Za-z0-9])?(?:(?:sha|md|base|utf|aes)-?\d|v\d{1,3}(?=[-_.:/]|\Z)).*)"
    rb"|arn:.*|0x[0-9A-Fa-f]+|[\w.-]+:(?:v?[\d.]+|latest)",
    "Kittens7.txt",
    "Kittens7.x",
)

# --- of tokens with a prefix ---
WORDS_BEFORE = rb"(?>(?:(?:[a-z]{1,12}|[A-Z]{1,12})\d{0,2}[_-]){1,4})"
RUN = _shape(rb"(?<![\w-])[\w-]{23,}+", "acme_live_8Fk2abcdefghijkl", "acme_live_8Fk2")
GROWS = _shape(rb"[^\w-]", ".", "_")
ESCAPED = _shape(
    rb"(?<=\\)(?:[nrtbfv0]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2})|(?<=%)[0-9A-Fa-f]{2}", "\\n", "n", "search"
)
LETTER_OR_DIGIT = _shape(rb"[A-Za-z0-9]", "a", "_")
PREFIX = _shape(WORDS_BEFORE, "acme_live_", "8_", "match")
FORM = _shape(rb"(%b)([\w-]{20,})" % WORDS_BEFORE, "acme_8Fk2abcdefghijklmnop", "acme_8Fk2")
SEPARATOR = _shape(rb"[_-]", "-", ".")
DIGITS = _shape(rb"\d+", "42", "4a")
LONG_WORDS = _shape(rb"[A-Z]?[a-z]{4,}", "Kitten", "KItten")
NAME = _shape(rb"[a-z\d](?:And|For|From|With)(?![a-z])|EXAMPLE", "dataFrom", "dataFoo", "search")
HUMPS = _shape(rb"[A-Z][a-z]{2,}", "Kit", "kit")
DIGEST = _shape(
    rb"(?i)(?:sha\d{1,3}|md5|etag|digest|integrity|hash|verification)\W{1,3}\Z",
    "sha256:",
    "sha256 of",
    "search",
)
SHORT_PREFIX = _shape(rb"(?>(?:(?:[a-z]{1,4}|[A-Z]{1,4})\d{0,2}[_-])+)", "ab1_C-", "kittens_")
CHANGE = _shape(rb"(?<=[a-z])[^a-z_-]|(?<=[A-Z])[^A-Z_-]|(?<=\d)[^\d_-]", "a7", "aa", "search")
LONG_HEX = _shape(rb"[0-9a-f]{32,}|[0-9A-F]{32,}", "0123456789abcdef0123456789abcdef", "0123456789abcdef")
SMALL = _shape(rb"[a-z0-9]{24,}", "abcdefghijklmnop01234567", "abcdefghijklmnop")
CAPITAL = _shape(rb"[A-Z0-9]{20,}", "ABCDEFGHIJKLMNOP0123", "ABCDEFGH")
# Ids: nodes of GitHub, ULID and TypeID, cuid; resources of CloudFormation.
ID = _shape(
    rb"k[wg]DO|k[wg]H[OL]|k[wg]L|01[0-9A-HJKMNP-TV-Z]{24}\Z|01[0-9a-hjkmnp-tv-z]{24}\Z|c[a-z0-9]{24}\Z|.*-[A-Z0-9]{11,14}\Z",
    "kgDOabc",
    "kittens",
    "match",
)
