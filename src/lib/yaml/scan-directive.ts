/** Reads what stands before a document: `%YAML 1.1` and `%TAG !e! tag:example.com,2000:`. */
import type { Cursor } from "./cursor.ts";
import { scannerError, type YamlError } from "./yaml-error.ts";

export interface Directive {
  readonly type: "versionDirective" | "tagDirective";
  /** The version, or the handle. */
  readonly text: string;
  /** What the handle stands for. */
  readonly suffix: string;
}

/** Passes the line, but for its break. @throws YamlError */
export function scanDirective(cursor: Cursor): Directive {
  const start = cursor.position;
  cursor.passLine();
  const [, name = "", rest = ""] = /^%([\w-]*)(.*)$/s.exec(cursor.source.slice(start, cursor.position)) ?? [];
  const refuse = (problem: string): YamlError => scannerError(problem, cursor.line);
  if (name === "") throw refuse("could not find expected directive name");
  if (!/^(?:[ \t]|$)/.test(rest)) throw refuse("found unexpected non-alphabetical character");
  if (name === "YAML") return { type: "versionDirective", text: versionOf(rest.trimStart(), refuse), suffix: "" };
  if (name === "TAG") return tagOf(rest.trimStart(), refuse);
  throw refuse("found unknown directive name");
}

type Refuse = (problem: string) => YamlError;

function versionOf(text: string, refuse: Refuse): string {
  const [, major = "", dot = "", minor = "", rest = ""] = /^(\d*)(\.?)(\d*)(.*)$/s.exec(text) ?? [];
  if (major === "") throw refuse("did not find expected version number");
  if (dot === "") throw refuse("did not find expected digit or '.' character");
  if (minor === "") throw refuse("did not find expected version number");
  checkEnd(rest, refuse);
  return `${Number(major)}.${Number(minor)}`;
}

function tagOf(text: string, refuse: Refuse): Directive {
  const [, handle = "", rest = ""] = /^(![\w-]*!|!(?![\w-]))(.*)$/s.exec(text) ?? [];
  if (handle === "") throw refuse("did not find expected '!'");
  const [, prefix, end = ""] = /^[ \t]+([^ \t]*)(.*)$/s.exec(rest) ?? [];
  if (prefix === undefined) throw refuse("did not find expected whitespace");
  if (prefix === "") throw refuse("did not find expected tag URI");
  checkEnd(end, refuse);
  return { type: "tagDirective", text: handle, suffix: unescapeUri(prefix, refuse) };
}

/** Only a comment may follow. */
function checkEnd(text: string, refuse: Refuse): void {
  if (!/^[ \t]*(?:#.*)?$/s.test(text)) throw refuse("did not find expected comment or line break");
}

/** @throws YamlError */
export function unescapeUri(text: string, refuse: Refuse): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw refuse("did not find URI escaped octet");
    throw error;
  }
}
