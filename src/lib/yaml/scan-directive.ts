/**
 * Scans directives before a document: `%YAML 1.1` and `%TAG !e! tag:example.com,2000:`. Source:
 * YAML 1.1, "Directives".
 */
import type { Cursor } from "./cursor.ts";
import { scannerError, type YamlError } from "./yaml-error.ts";

interface Directive {
  readonly type: "versionDirective" | "tagDirective";
  /** The version, or the handle. */
  readonly text: string;
  /** The prefix that the handle abbreviates. */
  readonly suffix: string;
}

/**
 * Scans a directive, without its line break.
 * @throws YamlError
 */
export function scanDirective(cursor: Cursor): Directive {
  const start = cursor.position;
  cursor.skipLine();
  const [, name = "", rest = ""] = /^%([\w-]*)(.*)$/s.exec(cursor.source.slice(start, cursor.position)) ?? [];
  const errorOf = (problem: string): YamlError => scannerError(problem, cursor.line);
  if (name === "") throw errorOf("could not find expected directive name");
  if (!/^(?:[ \t]|$)/.test(rest)) throw errorOf("found unexpected non-alphabetical character");
  if (name === "YAML") return { type: "versionDirective", text: versionOf(rest.trimStart(), errorOf), suffix: "" };
  if (name === "TAG") return tagOf(rest.trimStart(), errorOf);
  throw errorOf("found unknown directive name");
}

type ErrorOf = (problem: string) => YamlError;

function versionOf(text: string, errorOf: ErrorOf): string {
  const [, major = "", dot = "", minor = "", rest = ""] = /^(\d*)(\.?)(\d*)(.*)$/s.exec(text) ?? [];
  if (major === "") throw errorOf("did not find expected version number");
  if (dot === "") throw errorOf("did not find expected digit or '.' character");
  if (minor === "") throw errorOf("did not find expected version number");
  checkLineEnd(rest, errorOf);
  return `${Number(major)}.${Number(minor)}`;
}

function tagOf(text: string, errorOf: ErrorOf): Directive {
  const [, handle = "", rest = ""] = /^(![\w-]*!|!(?![\w-]))(.*)$/s.exec(text) ?? [];
  if (handle === "") throw errorOf("did not find expected '!'");
  const [, prefix, end = ""] = /^[ \t]+([^ \t]*)(.*)$/s.exec(rest) ?? [];
  if (prefix === undefined) throw errorOf("did not find expected whitespace");
  if (prefix === "") throw errorOf("did not find expected tag URI");
  checkLineEnd(end, errorOf);
  return { type: "tagDirective", text: handle, suffix: unescapeUri(prefix, errorOf) };
}

/** Checks that only a comment follows. */
function checkLineEnd(text: string, errorOf: ErrorOf): void {
  if (!/^[ \t]*(?:#.*)?$/s.test(text)) throw errorOf("did not find expected comment or line break");
}

/**
 * Decodes the percent escapes of a URI.
 * @param errorOf creates the error for a message
 * @throws what `errorOf` returns
 */
export function unescapeUri(text: string, errorOf: ErrorOf): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) throw errorOf("did not find URI escaped octet");
    throw error;
  }
}
