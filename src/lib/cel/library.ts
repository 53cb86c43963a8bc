/**
 * Libraries: functions, macros, variables and features that extend an environment together.
 * Source: cel-go, cel/library.go.
 */
import type { Features, FunctionDeclaration, Macro, VariableDeclaration } from "./declarations.ts";
import type { Validator } from "./validators.ts";

/** The declarations that a library adds to an environment. */
export interface Library {
  readonly functions: readonly FunctionDeclaration[];
  readonly macros: readonly Macro[];
  readonly variables: readonly VariableDeclaration[];
  readonly validators: readonly Validator[];
  /** Features that the library turns on or off. */
  readonly features: Partial<Features>;
}

/** Creates a library from some of its parts. */
export function library(parts: Partial<Library>): Library {
  return { functions: [], macros: [], variables: [], validators: [], features: {}, ...parts };
}

/** A library and the compatibility versions that have it. */
export interface VersionedLibrary {
  /** The first version with it. */
  readonly since: readonly [major: number, minor: number];
  /** The first version without it. */
  readonly until?: readonly [major: number, minor: number];
  readonly library: Library;
}

/** Returns the libraries of a compatibility version, in the order of `rows`. */
export function librariesOf(
  rows: readonly VersionedLibrary[],
  version: readonly [major: number, minor: number],
): Library[] {
  const isAtLeast = (other: readonly [number, number]): boolean =>
    version[0] > other[0] || (version[0] === other[0] && version[1] >= other[1]);
  return rows
    .filter(({ since, until }) => isAtLeast(since) && (until === undefined || !isAtLeast(until)))
    .map((row) => row.library);
}
