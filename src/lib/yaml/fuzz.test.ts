/**
 * Randomly changed YAML texts: each decodes or is rejected with a YamlError. Decoded values are
 * encoded and decoded again.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { encodeAny } from "../json/encode-any.ts";
import { resolveLiterals } from "../json/number-literal.ts";
import { decodeYaml, YamlError } from "./decode.ts";
import { yamlOfJson } from "./encode.ts";

const texts = readFileSync(join(import.meta.dirname, "testdata/golden.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as { in?: string; out?: string })
  .map((row) => row.in ?? row.out ?? "")
  .filter((text) => text.length < 300);

const bits = [
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
  "&a",
  "*a",
  "!",
  "!!int ",
  "|\n ",
  ">\n ",
  "? ",
  "- ",
  ":",
  "%",
  "---\n",
  "\t",
  "<<: ",
  "~",
  "\\",
  "\r\n",
  "\0",
  "\ud800",
];

const count = process.env.COXSWAIN_TEST_FULL === "1" ? 300_000 : 5000;

test(`${count} randomly changed texts (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const pick = (list: readonly string[]): string => list[random(list.length)] as string;
  for (let done = 0; done < count; done++) {
    const text = mutate(pick(texts));
    let value: unknown;
    try {
      ({ value } = decodeYaml(Buffer.from(text)));
    } catch (error) {
      assert.ok(error instanceof YamlError, `${JSON.stringify(text)}: ${error}`);
      continue;
    }
    const json = encodeAny(resolveLiterals(value));
    const again = decodeYaml(Buffer.from(yamlOfJson(Buffer.from(json)))).value;
    assert.deepEqual(JSON.parse(encodeAny(resolveLiterals(again))), JSON.parse(json), JSON.stringify(text));
  }

  function mutate(text: string): string {
    const at = random(text.length + 1);
    switch (random(4)) {
      case 0:
        return text.slice(0, at) + text.slice(at + 1 + random(3));
      case 1:
        return text.slice(0, at) + pick(texts);
      default:
        return mutateOnce(text, at);
    }
  }

  function mutateOnce(text: string, at: number): string {
    const changed = text.slice(0, at) + pick(bits) + text.slice(at);
    return random(3) === 0 ? mutate(changed) : changed;
  }
});
