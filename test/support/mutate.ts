/** Mutates valid input for fuzz tests of decoders. */
type Random = (below: number) => number;

/** Tokens of the format that mutations insert. */
export type Dictionary = readonly Buffer[];

const texts = (...all: string[]): Dictionary => all.map((text) => Buffer.from(text));

export const jsonWords = texts(
  ...[
    "null",
    "true",
    "{}",
    "[]",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    '""',
    "\n",
    "\ufeff",
    "\0",
    "é",
    "/**/",
    "'a'",
  ],
  ...[
    "0",
    "-0",
    "1.5",
    "-1",
    "1e5",
    "1e400",
    "0x1",
    "01",
    "1.",
    "2147483648",
    "9007199254740993",
    "9223372036854775808",
    "1".repeat(400),
  ],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\x"',
    '"__proto__":{},',
    '"constructor":1,',
    '"kind":"Secret",',
    '"apiVersion":"v2",',
    '"metadata":null,',
  ],
  ...[
    '"metadata":{"name":"b"},',
    '"spec":{},',
    '"a":1,"a":2,',
    '{"a":'.repeat(40),
    "[".repeat(40),
    `${"[".repeat(1200)}${"]".repeat(1200)}`,
  ],
  ...['"2020-01-01T00:00:00Z"', '"not a time"', '"1Gi"', '"1e99999"', '"1h"', '"\\n"', '"aGk="', '"aGk"'],
);

export const yamlWords = texts(
  ...[
    "\n",
    "\n  ",
    "\n- ",
    ": ",
    " ",
    "'",
    '"',
    "[",
    "]",
    "{",
    "}",
    ",",
    " #",
    "&a ",
    "*a",
    "!",
    "!!int ",
    "!!binary ",
    "!!str ",
    "|\n ",
    ">-\n ",
  ],
  ...[
    "? ",
    "- ",
    ":",
    "%",
    "%YAML 1.1\n",
    "---\n",
    "...\n",
    "\t",
    "<<: *a\n",
    "~",
    "\\",
    "\r\n",
    "\0",
    "\u2028",
    "\ufeff",
    "é",
    "yes",
    "0o7",
    "017",
    ".inf",
  ],
  ...[
    "1e400",
    "9223372036854775808",
    "2020-01-01",
    "1:30",
    "a: &b [*b]\n",
    "{a: ".repeat(40),
    "- ".repeat(300),
    "[".repeat(1200),
  ],
  ...["a: &x [1,1,1,1,1,1,1,1,1]\nb: &y [*x,*x,*x,*x,*x,*x,*x,*x]\nc: [*y,*y,*y,*y,*y,*y,*y,*y]\n"],
);

export const messageWords: Dictionary = [
  ...[
    "00",
    "ff",
    "80",
    "7f",
    "0a",
    "12",
    "1a",
    "08",
    "0a00",
    "1200",
    "0b",
    "0c",
    "6b387300",
    "0000000000",
    "ffffffffffffffffff01",
    "ffffffffffffffff7f",
  ],
  ...[
    "ffffffff0f",
    "ffffffff07",
    "8080808010",
    "80808080808080808001",
    "ffffffffffffffffffffff",
    "feffffff0f",
    "0affffffff0f",
    "0d00000000",
    "09",
  ],
  ...["0a02c328", "1202ffff", "0a03eda080", "e20100", "0a027b7d", "0a055b7b7d5d5d", "0a".repeat(60), "0b".repeat(500)],
].map((hex) => Buffer.from(hex, "hex"));

export const cborWords: Dictionary = [
  ...[
    "00",
    "20",
    "40",
    "60",
    "80",
    "a0",
    "9f",
    "bf",
    "5f",
    "7f",
    "ff",
    "f4",
    "f5",
    "f6",
    "f7",
    "f0",
    "f8ff",
    "1c",
    "c0",
    "c1",
    "c2",
    "d5",
    "d6",
    "d7",
  ],
  ...[
    "d9d9f7",
    "1bffffffffffffffff",
    "3bffffffffffffffff",
    "5bffffffffffffffff",
    "9bffffffffffffffff",
    "bb0000000000200001",
    "9b0000000100000000",
  ],
  ...[
    "f97e00",
    "f97c00",
    "f93c00",
    "fb7e37e43c8800759c",
    "62c328",
    "42c328",
    "5f4161ff",
    "9f00ff",
    "bf416100ff",
    "a2416100416101",
    "a1f600",
    "a18000",
  ],
  ...[
    "c074323032302d30312d30315430303a30303a30305a",
    "c11a514b67b0",
    "c11b0000ffffffffffff",
    "54323032302d30312d30315430303a30303a30305a",
    "d6426869",
  ],
  ...[
    "446b696e64",
    "4a61706956657273696f6e",
    "486d65746164617461",
    "495f5f70726f746f5f5f",
    "81".repeat(1200),
    "c6".repeat(300),
    "9f".repeat(300),
  ],
].map((hex) => Buffer.from(hex, "hex"));

/**
 * Mutates a body.
 *
 * @param others other bodies of the same format, parts of which are spliced in
 * @returns in most cases different bytes; at most twice as many plus a few thousand
 */
export function mutate(
  bytes: Buffer,
  { others, words, random }: { others: readonly Buffer[]; words: Dictionary; random: Random },
): Buffer {
  let result: Buffer = Buffer.from(bytes);
  const lengthMax = 2 * bytes.length + 4096;
  for (let times = 1 + random(random(4) === 0 ? 12 : 3); times > 0; times--) {
    const at = random(result.length + 1);
    const length = random(random(3) === 0 ? 200 : 8);
    switch (random(9)) {
      case 0:
        if (at < result.length) result[at] = random(256);
        break;
      case 1:
        if (at < result.length) result[at] = (result[at] as number) ^ (1 << random(8));
        break;
      case 2:
        result = result.subarray(0, random(3) === 0 ? at : result.length); // Sometimes truncated.
        break;
      case 3:
        result = replace(result, at, length, nothing);
        break;
      case 4:
        result = replace(result, random(result.length + 1), 0, result.subarray(at, at + length)); // A part repeated elsewhere.
        break;
      case 5:
        result = replace(result, random(result.length + 1), length, result.subarray(at, at + length));
        break;
      case 6: {
        const other = others[random(others.length)] ?? nothing;
        const from = random(other.length + 1);
        result = replace(result, at, random(2) * length, other.subarray(from, from + 4 * length));
        break;
      }
      default:
        result = replace(result, at, random(2) * length, words[random(words.length)] ?? nothing);
    }
    if (result.length > lengthMax) result = result.subarray(0, lengthMax);
  }
  return result;
}

const nothing: Buffer = Buffer.alloc(0);

function replace(bytes: Buffer, at: number, length: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + length)]);
}
