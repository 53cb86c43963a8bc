/** Limits against expensive YAML texts, and integers that doubles cannot represent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeYaml } from "./decode.ts";

const value = (text: string): unknown => decodeYaml(Buffer.from(text)).value;

const levels = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

const rejected: readonly (readonly [what: string, text: string, message: RegExp])[] = [
  ["brackets", "[".repeat(3 << 20), /^yaml: exceeded max depth of 1000$/],
  ["braces", "{a: ".repeat(100_000), /^yaml: exceeded max depth of 1000$/],
  ["lists", "- ".repeat(100_000), /^yaml: exceeded max depth of 1000$/],
  ["keys", "? ".repeat(100_000), /^yaml: exceeded max depth of 1000$/],
  [
    "indentation",
    Array.from({ length: 1200 }, (_, level) => `${" ".repeat(level)}a:`).join("\n"),
    /exceeded max depth of 1000$/,
  ],
  [
    "a chain of aliases",
    `a0: &a0 [x]\n${Array.from({ length: 1200 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}]\n`).join("")}`,
    /excessive aliasing|exceeded max depth/,
  ],
  [
    "a bomb of aliases",
    `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghij"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[at]}`)}]\n`).join("")}`,
    /^yaml: document contains excessive aliasing$/,
  ],
  [
    "many aliases of a long text",
    `a: &a ${"x".repeat(1 << 20)}\nb: [${"*a,".repeat(10_000)}]`,
    /^yaml: document contains excessive aliasing$/,
  ],
  [
    "many merges of mappings",
    `a: &a {${Array.from({ length: 1000 }, (_, at) => `k${at}: 1`)}}\nb: [${"{<<: *a},".repeat(10_000)}]`,
    /^yaml: document contains excessive aliasing$/,
  ],
];

/** Bytes in hexadecimal, which follow an `a`. */
const octets: readonly (readonly [hex: string, message: string])[] = [
  ["ff", "invalid leading UTF-8 octet"],
  ["80", "invalid leading UTF-8 octet"],
  ["c361", "invalid trailing UTF-8 octet"],
  ["e28061", "invalid trailing UTF-8 octet"],
  ["f09f98", "incomplete UTF-8 octet sequence"],
  ["c1bf", "invalid length of a UTF-8 sequence"],
  ["e08080", "invalid length of a UTF-8 sequence"],
  ["f0808080", "invalid length of a UTF-8 sequence"],
  ["eda080", "invalid Unicode character"],
  ["f4908080", "invalid Unicode character"],
  ["c3a9ff", "invalid leading UTF-8 octet"],
  ["01ff", "control characters are not allowed"],
  ["ff01", "invalid leading UTF-8 octet"],
];
for (const [hex, message] of octets) {
  test(`the octets 61${hex}`, () => {
    assert.throws(() => decodeYaml(Buffer.from(`61${hex}`, "hex")), { name: "YamlError", message: `yaml: ${message}` });
  });
}

test("sorts keys by their bytes, as upstream's JSON of a mapping does", () => {
  assert.equal(
    JSON.stringify(value("b: {z: 1, \ud83d\ude00: 2, \uff5e: 3, a: 4}\nB: 1\na: 0\n")),
    '{"B":1,"a":0,"b":{"a":4,"z":1,"\uff5e":3,"\ud83d\ude00":2}}',
  );
});

test("rejects texts that are too expensive", () => {
  for (const [what, text, message] of rejected) {
    assert.throws(() => decodeYaml(Buffer.from(text)), { name: "YamlError", message }, what);
  }
});

test("accepts a thousand levels", () => {
  assert.doesNotThrow(() => value(levels(999)));
  assert.throws(() => value(levels(1001)), /max depth/);
});

test("decodes integers of 64 bits exactly", () => {
  assert.deepEqual(
    value("a: 9007199254740993\nb: -9223372036854775808\nc: 18446744073709551615\nd: 9007199254740991\n"),
    {
      a: 9007199254740993n,
      b: -9223372036854775808n,
      c: 18446744073709551615n,
      d: 9007199254740991,
    },
  );
});

test("keys such as __proto__ are data", () => {
  const decoded = value("__proto__: {x: 1}\nconstructor: 2\n") as object;
  assert.deepEqual(Object.keys(decoded), ["__proto__", "constructor"]);
  assert.equal(Object.getPrototypeOf(decoded), Object.prototype);
});

test("reports at most a hundred strict errors", () => {
  assert.equal(decodeYaml(Buffer.from("a: 1\n".repeat(500))).strictErrors.length, 100);
});

test("values of two decodings share nothing", () => {
  const { a, b } = value("a: &x {k: [1]}\nb: *x\n") as Record<"a" | "b", { k: number[] }>;
  assert.notEqual(a, b);
  assert.notEqual(a.k, b.k);
});
