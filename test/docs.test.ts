/** Documents and comments name files, headings, feature gates and declarations that exist. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type SourceToken, sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const filesOf = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: root, exclude: ["**/node_modules/**", "dist/**", "docs/reference/api/**"] })
    .map((file) => file.replaceAll("\\", "/"))
    .sort();
const sources = filesOf("{src,tools,bench,test}/**/*.ts");
const documents = filesOf("**/*.md", ".github/**/*.md");

describe("documents name files and headings that exist", () => {
  for (const document of documents) {
    test(document, () => {
      const text = read(document);
      assert.deepEqual([...missingPaths(text), ...brokenLinks(document, text)], []);
    });
  }
});

test("no file has the marks of an unresolved merge", () => {
  const marked = [...sources, ...documents].filter((file) => /^(?:<{7}|>{7}) /m.test(read(file)));
  assert.deepEqual(marked, []);
});

/** Names of files and folders in code spans: from the root, or any end of the path of a source file. */
function missingPaths(text: string): string[] {
  const spans = [...text.matchAll(/`([^`\s]+)`/g)].map(([, span]) => span as string);
  return spans.filter((span) => {
    if (/^(?:src|docs|tools|test|bench)\//.test(span)) return globSync(span, { cwd: root }).length === 0;
    return /^[\w./-]+\.ts$/.test(span) && !sources.some((file) => file.endsWith(`/${span}`));
  });
}

/** Relative links, with their anchors. */
function brokenLinks(document: string, text: string): string[] {
  const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)/gm)].map(
    ([, inline, reference]) => (inline ?? reference) as string,
  );
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = "", anchor] = target.split("#");
    const file = path === "" ? document : join(dirname(document), path);
    if (!existsSync(join(root, file))) return true;
    return anchor !== undefined && !anchorsOf(read(file)).includes(anchor);
  });
}

function withoutCode(text: string): string {
  return text.replace(/^( *)```[\s\S]*?^\1```/gm, "").replace(/`[^`\n]*`/g, "code");
}

/** Anchors of the headings, as code hosts make them. */
function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  const headings = markdown.replace(/^( *)```[\s\S]*?^\1```/gm, "").matchAll(/^#{1,6} +(.+?) *#*$/gm);
  return [...headings].map(([, heading = ""]) => {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-");
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return count === 0 ? anchor : `${anchor}-${count}`;
  });
}

test("finds links whose file or heading is missing", () => {
  const text =
    "[a](docs/none.md) [b](#no-heading) [c](#some-heading-1) `[d](none.md)` [e](https://x.y/z.md)\n# Some `heading`\n## Some heading\n";
  assert.deepEqual(
    brokenLinks("README.md", text).filter((target) => target !== "#some-heading-1"),
    ["docs/none.md", "#no-heading"],
  );
  assert.deepEqual(anchorsOf(text), ["some-heading", "some-heading-1"]);
});

test("comments link to declarations in scope", () => {
  const found = sources.flatMap((file) => {
    const text = read(file);
    return text.includes("{@link") ? brokenDeclarationLinks(file, text).map((name) => `${file}: ${name}`) : [];
  });
  assert.deepEqual(found, []);
});

/** @returns targets of links to a name, or to a member of a type, that the file neither declares nor imports */
function brokenDeclarationLinks(file: string, text: string): string[] {
  const tokens = sourceTokens(text);
  const comments = tokens.filter(({ type }) => type === "comment");
  const targets = comments.flatMap((comment) =>
    [...comment.text.matchAll(/\{@link(?:\s+\*)?\s+([^\s}|*]+)/g)].map(([, name]) => name as string),
  );
  const imports = importsOf(text);
  const declared = declaredNames(tokens);
  return targets.filter((target) => {
    const [name = "", member] = target.split(".");
    const source = imports.get(name);
    if (source === undefined && !declared.has(name)) return true;
    if (member === undefined || source?.startsWith(".") === false) return false;
    const declaring = source === undefined ? tokens : sourceTokens(read(join(dirname(file), source)));
    return !declaring.some((token) => token.type === "identifier" && token.text === member);
  });
}

/** Local names and the modules that they come from. */
function importsOf(text: string): Map<string, string> {
  const imports = text.matchAll(/^import\s+(?:type\s+)?([^"';]+?)\s+from\s+"([^"]+)"/gm);
  return new Map(
    [...imports].flatMap(([, clause = "", source = ""]) =>
      clause.split(/[{},]/).map((part): [string, string] => [part.trim().split(/\s+/).at(-1) as string, source]),
    ),
  );
}

const declaring = new Set(["function", "class", "interface", "type", "const", "let", "enum", "namespace"]);

function declaredNames(tokens: readonly SourceToken[]): Set<string> {
  const code = tokens.filter(({ type, text }) => type !== "comment" && text !== "*");
  const names = code.filter(({ type }, index) => type === "identifier" && declaring.has(code[index - 1]?.text ?? ""));
  return new Set(names.map(({ text }) => text));
}

test("finds links to declarations that are missing", () => {
  const source = [
    'import { type SourceToken, sourceTokens as tokens } from "./support/source-tokens.ts";',
    "/** {@\u006cink\n * tokens} {@link SourceToken.line} {@link SourceToken.column} {@link f} {@link g} {@link T.a} {@link T.b} */",
    "function* f() {}\ninterface T { a: 1 }",
  ].join("\n");
  assert.deepEqual(brokenDeclarationLinks("test/x.ts", source), ["SourceToken.column", "g", "T.b"]);
});

/** Kinds that have the name of a gate. */
const kindsNamedAsGates = ["MutatingAdmissionPolicy", "VolumeAttributesClass"];

test("the compatibility page lists the feature gates that the code reads", () => {
  const { gates }: { gates: { name: string }[] } = JSON.parse(read("src/apimachinery/data/gates.json"));
  const names = new Set(gates.map(({ name }) => name));
  const files = filesOf("src/**/*.ts").filter(
    (file) => !/\.test\.ts$|^src\/(?:apimachinery\/data|controllers\/bootstrap\/rbac)\//.test(file),
  );
  const texts = files.flatMap((file) =>
    [...read(file).matchAll(/"([A-Za-z0-9]+)"/g)].map(([, text]) => text as string),
  );
  const found = new Set(texts.filter((text) => names.has(text) && !kindsNamedAsGates.includes(text)));
  const list = /These gates also change.*?No other gate/s.exec(read("docs/compatibility/feature-gates.md"))?.[0] ?? "";
  const listed = [...list.matchAll(/`([A-Za-z0-9]+)`/g)].map(([, name]) => name as string);
  assert.deepEqual(listed.sort(), [...found].sort());
});

describe("a page of compatibility is one table", () => {
  for (const page of filesOf("docs/compatibility/*.md")) {
    test(page, () => {
      const text = read(page);
      const tables = [...text.matchAll(/^\|[ -]+(?:\|[ -]+)+\|$/gm)];
      assert.equal(tables.length, 1);
      const columns = text
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map(columnsOf);
      assert.deepEqual([...new Set(columns)], [columns[0]]);
      assert.doesNotMatch(text, /^[-*] |^##/m, "statements are rows");
      assert.ok(read("docs/compatibility.md").includes(`(${page.replace("docs/", "")})`), "the index links to it");
    });
  }
});

/** The number of cells of a row. */
function columnsOf(row: string): number {
  return row.replaceAll("\\|", "").split("|").length - 2;
}
