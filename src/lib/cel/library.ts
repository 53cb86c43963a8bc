/** What extends an environment: functions, macros, variables and features that belong together. */
import type { Features, FunctionDeclaration, Macro, VariableDeclaration } from "./declarations.ts";
import type { Validator } from "./validators.ts";

export interface Library {
  readonly functions: readonly FunctionDeclaration[];
  readonly macros: readonly Macro[];
  readonly variables: readonly VariableDeclaration[];
  readonly validators: readonly Validator[];
  readonly features: Partial<Features>;
}

/** Fills in what is left out. */
export function library(parts: Partial<Library>): Library {
  return { functions: [], macros: [], variables: [], validators: [], features: {}, ...parts };
}

/** A library, from one version on and before another. */
export interface VersionedLibrary {
  readonly since: readonly [major: number, minor: number];
  /** The first version without it. */
  readonly until?: readonly [major: number, minor: number];
  readonly library: Library;
}

/** Those of a version. */
export function librariesOf(
  rows: readonly VersionedLibrary[],
  version: readonly [major: number, minor: number],
): Library[] {
  const reached = (other: readonly [number, number]): boolean =>
    version[0] > other[0] || (version[0] === other[0] && version[1] >= other[1]);
  return rows
    .filter(({ since, until }) => reached(since) && (until === undefined || !reached(until)))
    .map((row) => row.library);
}
