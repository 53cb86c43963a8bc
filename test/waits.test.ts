/**
 * Tests wait with `until` and `eventually` (test/support/until.ts), and with virtual clocks. Sleeps and loops of their
 * own are in `test/support` only, or have a comment `own wait: REASON` on their line or the one above.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type SourceToken, sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");

/** Code that only tests use, outside of `test/support`. */
const isTestCode = /\.(?:test|suite)\.ts$|^test\/(?!support\/)|^src\/.+\/testing\//;

/** How the last statement of a loop looks that only lets time pass. */
const pause =
  /\bawait (?:new Promise .*\bset(?:Immediate|Timeout)\b|(?:\w*[tT]urns?|tick|settle|sleep|delay|pause|wait|peerLatency|setImmediate|setTimeout) \()[^;]*;?$/;

/** @returns the lines of sleeps and of loops that poll, without those that have a reason */
function ownWaits(source: string): number[] {
  const all = sourceTokens(source);
  const excused = new Set(
    all
      .filter(({ type, text }) => type === "comment" && /\bown wait: \S/.test(text))
      .flatMap(({ line, text }) => [line, line + text.split("\n").length]),
  );
  const code = all.filter(({ type }) => type !== "comment");
  const found = code.flatMap((token, at) => {
    if (token.type !== "identifier" || isMember(code, at)) return [];
    const isWait =
      /^set(?:Timeout|Interval)$/.test(token.text) ||
      (token.text === "Atomics" && code[at + 2]?.text === "wait") ||
      (/^(?:for|while|do)$/.test(token.text) && polls(code, at));
    return isWait ? [token.line] : [];
  });
  return [...new Set(found)].filter((line) => !excused.has(line));
}

function isMember(code: readonly SourceToken[], at: number): boolean {
  return code[at - 1]?.text === "." || code[at + 1]?.text === ":";
}

/** Whether the loop whose keyword is at this place waits for a state. */
function polls(code: readonly SourceToken[], at: number): boolean {
  const { header, body } = loopAt(code, at);
  if (/ (?:of|in) /.test(header)) return false;
  if (/\bawait\b|\b(?:Date|performance) \. now\b/.test(header)) return true;
  const statement = body.replace(/^\{ ?/, "").replace(/ ?\}$/, "");
  const [, repeated] = /^(\w+) = await\b[^;]*;?$/.exec(statement) ?? [];
  if (repeated !== undefined && header.split(" ").includes(repeated)) return true;
  if (!pause.test(statement)) return false;
  return /^await\b[^;]*;?$/.test(statement) || /\b(?:return|break)\b/.test(statement);
}

function loopAt(code: readonly SourceToken[], at: number): { readonly header: string; readonly body: string } {
  if (code[at]?.text === "do") {
    const end = endOfStatement(code, at + 1);
    return { body: textOf(code, at + 1, end), header: textOf(code, end + 1, endOfStatement(code, end + 1)) };
  }
  const open = code.findIndex(({ text }, index) => index > at && text === "(");
  const close = endOfBrackets(code, open);
  return { header: textOf(code, open, close), body: textOf(code, close, endOfStatement(code, close)) };
}

const textOf = (code: readonly SourceToken[], from: number, to: number): string =>
  code
    .slice(from, to)
    .map(({ type, text }) => (type === "string" ? '""' : text))
    .join(" ");

/** @returns the position after the brackets that open at this position */
function endOfBrackets(code: readonly SourceToken[], open: number): number {
  for (let [at, depth] = [open, 0]; at < code.length; at++) {
    if (isBracket(code[at], "([{")) depth++;
    else if (isBracket(code[at], ")]}") && --depth === 0) return at + 1;
  }
  return code.length;
}

/** @returns the position after a block, or after the semicolon of another statement */
function endOfStatement(code: readonly SourceToken[], from: number): number {
  if (code[from]?.text === "{") return endOfBrackets(code, from);
  for (let at = from; at < code.length; at++) {
    if (isBracket(code[at], "([{")) at = endOfBrackets(code, at) - 1;
    else if (code[at]?.text === ";" || isBracket(code[at], ")]}")) return at + 1;
  }
  return code.length;
}

const isBracket = (token: SourceToken | undefined, brackets: string): boolean =>
  token?.type === "other" && brackets.includes(token.text);

test("tests have no sleeps and no poll loops of their own", () => {
  const files = globSync("{src,test,tools,bench,examples}/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => isTestCode.test(file) && !/node_modules|\/testdata\//.test(file));
  const found = files.flatMap((file) =>
    ownWaits(readFileSync(join(root, file), "utf8")).map((line) => `${file}:${line}`),
  );
  assert.deepEqual(found.sort(), []);
});

const rows: [source: string, isWait: boolean][] = [
  ["await new Promise((resolve) => setTimeout(resolve, 50));", true],
  ['import { setTimeout as sleep } from "node:timers/promises";', true],
  ["Atomics.wait(cell, 0, 0, 50);", true],
  ["while (streams.length === 0) await new Promise(setImmediate);", true],
  ["while (!seen) { await passTurns(1); }", true],
  ["while ((await read()).status !== 200);", true],
  ["while (answer.status === 200) answer = await read();", true],
  ["do answer = await read(); while (Date.now() < end);", true],
  ["for (let tries = 0; tries < 9; tries++) { if (await holds()) return; await turn(); }", true],
  ["for (let turns = 0; turns < 9; turns++) await turn();", true],
  ["// own wait: a timer of the operating system\nsetTimeout(run, 50);", false],
  ["setTimeout(run, 50); // own wait: a timer of the operating system", false],
  ["socket.setTimeout(50);", false],
  ['mock.timers.enable({ apis: ["setTimeout"] });', false],
  ['while (!text.includes("a")) await once(stream, "data");', false],
  ["for (const name of names) await passTurns(1);", false],
  ["for await (const piece of stream) await turn();", false],
  ["while (!isOver) { await write(); await turn(); }", false],
  ["await until(() => seen);", false],
];
for (const [source, isWait] of rows) {
  test(`${isWait ? "finds" : "does not find"} a wait in ${source}`, () =>
    assert.equal(ownWaits(source).length > 0, isWait));
}
