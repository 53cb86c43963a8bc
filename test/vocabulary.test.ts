/**
 * Words that have a plainer replacement may not appear in comments, identifiers, test titles and documents. Other texts in code are not
 * checked, because many are upstream's. `VOCABULARY=src/http,docs` checks these folders and files instead of all.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type SourceToken, sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");

/** The folders and files that the test covers. */
const checked = ["*.md", ".github", "bench", "docs", "src", "test", "tools"];

const excluded = /(?:^|\/)(?:node_modules|testdata|dist|\.git|\.coxswain)\/|^src\/data\/|(?:^|\/)vocabulary\.test\.ts$/;

/** Patterns and their replacements. In identifiers they are matched with the words apart: `wantedUser` is `wanted user`. */
const replacements: Readonly<Record<string, string>> = {
  "tells? apart": "distinguish",
  "told|tells?|telling": "report, log, notify, return, say",
  "nobody|no one": "no client, no user, no caller",
  "somebody|everybody": "a user, a client; all users, all clients",
  "whoever|whomever|whosoever": "the client that, callers that",
  "who may": "users that are allowed to",
  "stands?|stood|standing": "be in, be at, be next to",
  "dear(?:er|est)?": "expensive",
  "costs? (?:him |them |it )?nothing": "is free",
  "beside(?! each)": "next to, with, in addition to",
  "look(?:s|ed|ing)? (?:at|over|into|through|after)": "check, inspect, read, scan",
  "(?:a|one) look": "a check",
  "what (?:is there|there is|there are)": "existing objects, the current state",
  "refus(?:e|es|ing|al|als)|(?<!connection )refused(?! stream)": "reject, rejected, rejection, error",
  "afresh|anew": "again, rebuilt",
  "as of old": "as before",
  "be it(?: that)?": "whether",
  "save for": "except",
  "for it (?:is|was|has)": "because it is",
  "the ways? of": "the request path, how",
  wanted: "desired, expected, requested",
  "askers?": "client, user",
  "hears?|heard": "receive, be notified",
  "heed(?:s|ed|ing)?": "respect, follow",
  lest: "so that … not",
  "hence|thence|whence|hither|thither|henceforth|forthwith": "therefore, from, from now on",
  "thereby|thereof|therein|thereto|thereupon|hereby|whereby|whereof|wherein": "by it, of it, in it",
  "albeit|notwithstanding|betimes|oft|ere|nought|naught|aught|whilst|amongst":
    "although, despite, early, often, before, nothing, while, among",
  "brought forward": "converted, advanced",
  "spoken against": "rejected",
  "at hand": "available",
  "(?<!case |cases )of use": "useful",
  "gone by|goes by": "elapsed; is called, is identified by",
  "gone (?:over|through)": "iterated",
  "come(?:s)? to nothing": "has no effect",
  "what it is of": "name the thing",
  "in its place": "instead",
  "held against": "compared with",
  "there and back": "in both directions",
  "(?:came|comes|become|becomes|became) of (?:it|them|that)": "the result, the outcome",
  "mistakes? of ours": "bug",
  "he|his|him|himself": "the user, the client, it",
  "believe(?:s|d)?": "trust",
};

const patterns = Object.entries(replacements).map(
  ([pattern, replacement]) => [new RegExp(`(?<![\\w-])(?:${pattern})(?![\\w-])`, "giu"), replacement] as const,
);

/**
 * Finds every text that has a hit, and a few others, in a fraction of the time: it neither splits a text into tokens nor identifiers into words.
 * A word begins after what is not a letter or with an upper-case letter, and no lower-case letter follows it.
 */
const candidate = new RegExp(
  `(?:(?<![A-Za-z])|(?=[A-Z]))(?:${inAnyCase(Object.keys(replacements).join("|").replaceAll(" ", "[ _]?"))})(?![a-z])`,
);

/** The boundaries of words depend on the case, so the pattern cannot have the flag `i`. */
function inAnyCase(pattern: string): string {
  return pattern.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

interface Hit {
  readonly line: number;
  readonly word: string;
  readonly replacement: string;
}

/** @param line the line of the first character */
function hitsIn(text: string, line: number): Hit[] {
  return patterns.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)].map((match) => ({
      line: line + text.slice(0, match.index).split("\n").length - 1,
      word: match[0],
      replacement,
    })),
  );
}

function hitsInMarkdown(text: string): Hit[] {
  // Blocks and spans of code may show output of upstream; their lines are kept, so that lines of the rest are right.
  const prose = text.replace(/^( *)```[\s\S]*?^\1```|`[^`]*`|\]\([^)\s]*\)/gm, (code) => code.replace(/[^\n]/g, " "));
  return hitsIn(prose, 1);
}

function hitsInTokens(tokens: readonly SourceToken[]): Hit[] {
  return tokens.flatMap((token, index) => {
    if (token.type === "identifier") {
      return hitsIn(wordsOf(token.text), token.line).map((hit) => ({ ...hit, word: token.text }));
    }
    return token.type === "comment" || isTitle(tokens, index) ? hitsIn(token.text, token.line) : [];
  });
}

/** `wantedUser` and `WANTED_USER` as `wanted user`. */
function wordsOf(identifier: string): string {
  return identifier
    .replace(/([\p{Ll}\d])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, "$1$2 ")
    .replaceAll("_", " ")
    .toLowerCase();
}

const titled = new Set(["test", "it", "describe", "suite", "skip", "only", "todo"]);

/** Whether a text is the first argument of `test(…)` and its like, or a part of a template that is. */
function isTitle(tokens: readonly SourceToken[], index: number): boolean {
  if (tokens[index]?.type !== "string") return false;
  const [name, parenthesis] = [tokens[index - 2], tokens[index - 1]];
  return parenthesis?.text === "(" && name?.type === "identifier" && titled.has(name.text);
}

function hitsInFile(file: string): Hit[] {
  const text = readFileSync(join(root, file), "utf8");
  if (!candidate.test(text)) return [];
  if (/\.(?:ts|mjs)$/.test(file)) return hitsInTokens(sourceTokens(text));
  if (file.endsWith(".go")) return hitsInTokens(sourceTokens(text, "go"));
  return hitsInMarkdown(text);
}

/** @param patterns globs, or names of folders and files */
function filesOf(patterns: readonly string[]): string[] {
  const globs = patterns.flatMap((pattern) => [pattern, `${pattern}/**/*`]);
  const files = globSync(globs, { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  return [...new Set(files)].filter((file) => /\.(?:ts|mjs|go|md|ya?ml)$/.test(file) && !excluded.test(file)).sort();
}

test("comments, identifiers, titles and documents use words of the style guide", () => {
  const patterns = process.env.VOCABULARY?.split(",") ?? checked;
  const found = filesOf(patterns).flatMap((file) =>
    hitsInFile(file)
      .sort((a, b) => a.line - b.line)
      .map(({ line, word, replacement }) => `${file}:${line}: ${word} → ${replacement}`),
  );
  assert.equal(found.length, 0, `${found.length} words:\n${found.join("\n")}`);
});

describe("the check", () => {
  const dollar = "$";
  const samples: readonly (readonly [what: string, source: string, words: readonly string[]])[] = [
    ["comments", "const a = 1; // Told in\n/** and\n nobody */", ["Told", "nobody"]],
    ["identifiers", "const wantedUser = isToldOfAny(STANDS_IN);", ["wantedUser", "isToldOfAny", "STANDS_IN"]],
    [
      "titles",
      `test("nobody asks", () => {}); test(\`told of ${dollar}{whoever}\`, f);`,
      ["nobody", "told", "whoever"],
    ],
    ["not other texts", 'throw new Error("refused"); const b = `told`;', []],
    ["not regular expressions", "const c = /told/.test(d) ? 1 / e : f / g; // h", []],
    ["texts within templates", `\`${dollar}{\`told ${dollar}{a}\`} told\` // told`, ["told"]],
    [
      "not parts of words or names of errors",
      "// standard thence-forth connection refused\nconst ECONNREFUSED = 1",
      [],
    ],
  ];
  for (const [what, source, words] of samples) {
    test(`finds words in: ${what}`, () => {
      assert.deepEqual(
        hitsInTokens(sourceTokens(source)).map(({ word }) => word),
        words,
      );
      if (words.length > 0) assert.match(source, candidate);
    });
  }

  for (const word of [
    "wantedUser",
    "isToldOfAny",
    "STANDS_IN",
    "XTold",
    "whatThereIs",
    "WHAT_THERE_IS",
    "a told2Told",
  ]) {
    test(`scans a file with ${word}`, () => {
      assert.equal(hitsInTokens(sourceTokens(word)).length, 1);
      assert.match(word, candidate);
    });
  }

  test("reports lines of Markdown, without code", () => {
    assert.deepEqual(
      hitsInMarkdown("a `told`\n```\ntold\n```\nlooked at").map(({ line, word }) => [line, word]),
      [[5, "looked at"]],
    );
  });
});
