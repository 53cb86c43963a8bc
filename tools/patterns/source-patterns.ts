/** Finds the regular expressions in the sources of the product. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type SourceToken, sourceTokens } from "../../test/support/source-tokens.ts";

/** A regular expression, where it is written, and why its input is short, if a comment says so. */
export interface SourcePattern {
  /** The file, with slashes, and the line. */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
  /** The text behind `Bounded:` in a comment at the pattern; undefined without such a comment. */
  readonly bound: string | undefined;
}

/** A `RegExp(…)` whose pattern is not known before it runs. */
export interface BuiltPattern {
  readonly file: string;
  readonly line: number;
  readonly bound: string | undefined;
}

/** The patterns of one source: literals, and places that build patterns. */
export interface FilePatterns {
  readonly literals: readonly SourcePattern[];
  readonly built: readonly BuiltPattern[];
}

/** Lines between a comment and the pattern that it is about: the name may be on a line of its own. */
const linesApartMax = 2;

/** Finds the literals of a source, and its calls of `RegExp`. @param file for `place` */
export function patternsIn(text: string, file: string): FilePatterns {
  const tokens = sourceTokens(text.replace(/^#!.*/, ""));
  const bounds = tokens.filter(isBound).map((token) => ({ last: lastLineOf(token), text: boundOf(token) }));
  const boundAt = (line: number): string | undefined =>
    bounds.find(({ last }) => last <= line && last >= line - linesApartMax)?.text;
  const literals = tokens.filter(isLiteral).map(({ text: literal, line }) => {
    const end = literal.lastIndexOf("/");
    return {
      place: `${file}:${line}`,
      source: literal.slice(1, end),
      flags: literal.slice(end + 1),
      bound: boundAt(line),
    };
  });
  const built = tokens
    .filter((token, index) => token.type === "identifier" && token.text === "RegExp" && tokens[index + 1]?.text === "(")
    .map(({ line }) => ({ file, line, bound: boundAt(line) }));
  return { literals, built };
}

function isLiteral({ type, text }: SourceToken): boolean {
  return type === "other" && text.length > 1 && text.startsWith("/");
}

function isBound({ type, text }: SourceToken): boolean {
  return type === "comment" && text.includes("Bounded: ");
}

function lastLineOf({ text, line }: SourceToken): number {
  return line + text.split("\n").length - 1;
}

function boundOf({ text }: SourceToken): string {
  return text.slice(text.indexOf("Bounded: ") + "Bounded: ".length);
}

/** The sources of the product, without tests. */
export function productSources(root: string): string[] {
  return globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/\.(?:test|suite)\.ts$/.test(file))
    .sort();
}

/**
 * All patterns of the product. Those that a module builds while it loads are recorded by loading
 * it.
 *
 * @returns also the places that build patterns later, without a comment that names the bound
 */
export async function productPatterns(
  root: string,
): Promise<{ readonly patterns: readonly SourcePattern[]; readonly unknown: readonly string[] }> {
  const found = productSources(root).map((file) => patternsIn(readFileSync(join(root, file), "utf8"), file));
  const built = found.flatMap((one) => one.built).filter(({ bound }) => bound === undefined);
  const recorded = await recordBuilt(root, new Set(built.map(({ file }) => file)));
  const places = built.map(({ file, line }) => `${file}:${line}`);
  const recordedPlaces = new Set(recorded.map(({ place }) => place));
  return {
    patterns: [...found.flatMap(({ literals }) => literals), ...recorded.filter(({ place }) => places.includes(place))],
    unknown: places.filter((place) => !recordedPlaces.has(place)),
  };
}

/** Loads the files, and records which patterns they build, and where. */
async function recordBuilt(root: string, files: ReadonlySet<string>): Promise<SourcePattern[]> {
  const patterns: SourcePattern[] = [];
  const { RegExp: original } = globalThis;
  const base = pathToFileURL(root).href;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags = ""], newTarget) {
      const [, file, line] = /(src\/[^:\n]+):(\d+):\d+/.exec(callerOf(base)) ?? [];
      if (file !== undefined && files.has(file))
        patterns.push({ place: `${file}:${line}`, source: String(source), flags: String(flags), bound: undefined });
      return Reflect.construct(target, [source, flags], newTarget);
    },
  });
  try {
    for (const file of files) await import(pathToFileURL(join(root, file)).href);
  } finally {
    globalThis.RegExp = original;
  }
  return patterns;
}

/** The line of the stack that names the file which called the constructor. */
function callerOf(base: string): string {
  const lines = (new Error().stack ?? "").split("\n");
  return lines.find((line) => line.includes(`${base}/src/`)) ?? "";
}
