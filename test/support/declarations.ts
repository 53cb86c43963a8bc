/**
 * Finds the functions, classes and interfaces of the sources, their docstrings and the errors that they throw. It reads
 * lines as the formatter writes them, because the compiler has no API for programs.
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dirname, "../..");

/** A function, a type of functions, a method of a class, or a member of an interface. */
export interface Declaration {
  readonly file: string;
  /** `open`, or `Storage.get` for a member. */
  readonly name: string;
  readonly isExported: boolean;
  /** The comment before it; empty without one. */
  readonly docstring: string;
  /** Signature and body without comments. */
  readonly lines: readonly string[];
  /** Of a member: the class or interface. */
  readonly owner?: Owner;
}

/** A class or an interface. */
export interface Owner {
  readonly file: string;
  readonly name: string;
  readonly kind: "class" | "interface";
  readonly isExported: boolean;
  /** What it extends and implements. */
  readonly bases: readonly string[];
}

/** A file of src/, split. */
export interface SourceFile {
  readonly file: string;
  readonly text: string;
  readonly owners: readonly Owner[];
  readonly declarations: readonly Declaration[];
  /** What it imports or passes on from other files: the file and the name there, by the name in this one. */
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

/** Reads all files of src/ but tests. */
export function readSources(): SourceFile[] {
  return globSync("src/**/*.ts", { cwd: root })
    .map((file) => file.replaceAll("\\", "/"))
    .filter((file) => !/\.(?:test|suite)\.ts$|\/testdata\//.test(file))
    .sort()
    .map((file) => parseSource(file, readFileSync(join(root, file), "utf8")));
}

const functionStart = /^(export )?(?:async )?(?:function\*? |const |type )([\w$]+)/;
const ownerStart = /^(export )?(?:declare )?(?:abstract )?(class|interface) (\w+)/;
const memberStart =
  /^ {2}(?:(?:static|async|override|readonly|private|protected|get|set|declare) |\*)*(#?[\w$]+|\[Symbol\.\w+\])[?!]?(?=[(<:]| = )/;

/** Splits the text of a file. */
export function parseSource(file: string, text: string): SourceFile {
  const lines = text.split("\n");
  const declarations: Declaration[] = [];
  const owners: Owner[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    const owner = ownerStart.exec(line);
    const found = owner === null ? functionStart.exec(line) : null;
    if (owner === null && found === null) continue;
    const end = endOf(lines, at, "");
    if (owner !== null) {
      const one = readOwner(file, lines, at, owner);
      owners.push(one);
      declarations.push(...membersOf(one, lines, at, end));
    } else if (found !== null) {
      const [, exported, name = ""] = found;
      declarations.push({
        file,
        name,
        isExported: exported !== undefined,
        docstring: docstringBefore(lines, at),
        lines: withoutComments(lines.slice(at, end + 1)),
      });
    }
    at = end;
  }
  return { file, text, owners, declarations, imports: importsOf(file, text) };
}

/** The last line of what begins at a line: the one of the same indentation that closes it. */
function endOf(lines: readonly string[], at: number, indent: string): number {
  if (/;$|\{\}$/.test(lines[at] as string)) return at;
  const sameIndent = new RegExp(`^${indent}\\S`);
  for (let end = at + 1; end < lines.length; end++) {
    const line = lines[end] as string;
    if (!sameIndent.test(line)) continue;
    if (!/^\s*[)\]}]/.test(line)) return end - 1;
    if (!/[{([]$|=>$/.test(line)) return end;
  }
  return lines.length - 1;
}

function readOwner(file: string, lines: readonly string[], at: number, match: RegExpExecArray): Owner {
  const [, exported, kind = "", name = ""] = match;
  let head = "";
  for (let line = at; ; line++) {
    head += ` ${lines[line]}`;
    if (/[{}]$/.test(lines[line] as string)) break;
  }
  const [, bases = ""] =
    /\b(?:extends|implements) (.*)\{/.exec(head.replaceAll(/<[^<>]*(?:<[^<>]*>[^<>]*)*>/g, "")) ?? [];
  return {
    file,
    name,
    kind: kind as Owner["kind"],
    isExported: exported !== undefined,
    bases: bases.split(/,|\bimplements\b|\bextends\b/).flatMap((base) => /[\w.]+/.exec(base)?.[0] ?? []),
  };
}

function membersOf(owner: Owner, lines: readonly string[], from: number, to: number): Declaration[] {
  const members: Declaration[] = [];
  for (let at = from + 1; at < to; at++) {
    const name = memberStart.exec(lines[at] as string)?.[1];
    if (name === undefined) continue;
    const end = endOf(lines, at, "  ");
    members.push({
      file: owner.file,
      name: `${owner.name}.${name}`,
      isExported: owner.isExported && !name.startsWith("#"),
      docstring: docstringBefore(lines, at),
      lines: withoutComments(lines.slice(at, end + 1)),
      owner,
    });
    at = end;
  }
  return members;
}

function docstringBefore(lines: readonly string[], at: number): string {
  let last = at - 1;
  while (/^\s*\/\/ /.test(lines[last] ?? "")) last--;
  if (!lines[last]?.trimEnd().endsWith("*/")) return "";
  let first = last;
  while (first > 0 && !/^\s*\/\*\*/.test(lines[first] as string)) first--;
  return lines.slice(first, last + 1).join("\n");
}

function withoutComments(lines: readonly string[]): string[] {
  return lines
    .join("\n")
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, "")
    .split("\n")
    .map((line) => line.replace(/(^|\s)\/\/ .*$/, ""));
}

function importsOf(file: string, text: string): Map<string, { file: string; name: string }> {
  const imports = new Map<string, { file: string; name: string }>();
  const statements = text.matchAll(/\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+"(\.[^"]+)"/g);
  const calls = text.matchAll(/\bconst \{([^}]*)\} = await import\("(\.[^"]+)"\)/g);
  for (const [, names = "", path = ""] of [...statements, ...calls]) {
    const target = relative(root, join(root, dirname(file), path));
    for (const one of names.split(",")) {
      const [name = "", local = name] = one
        .trim()
        .replace(/^type /, "")
        .split(" as ");
      if (name !== "") imports.set(local, { file: target, name });
    }
  }
  return imports;
}
