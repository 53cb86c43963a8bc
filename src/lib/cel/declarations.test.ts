/** Compares the functions, overloads and macros of every version with those of Kubernetes. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { FunctionDeclaration, Macro } from "./declarations.ts";
import { crossTypeOrder } from "./functions/standard/logic.ts";
import { standardFunctions } from "./functions/standard/standard.ts";
import { kubernetesLibraries } from "./kubernetes-environment.ts";
import { librariesOf } from "./library.ts";
import { standardMacros } from "./macros.ts";
import type { CelType } from "./types.ts";

/** Recorded by `npm run golden cel`. */
const golden = new URL("testdata/declarations.txt", import.meta.url);

/** Minor versions with changes, and those before and after. */
const versions = [0, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36];

/** Names type parameters A, B and so on, in order of appearance. */
function typeText(type: CelType, names: Map<string, string>): string {
  if (type.kind === "parameter") {
    const name = names.get(type.name) ?? String.fromCharCode(65 + names.size);
    names.set(type.name, name);
    return name;
  }
  const parameters = type.parameters.map((parameter) => typeText(parameter, names));
  return parameters.length === 0 ? type.name : `${type.name}(${parameters.join(", ")})`;
}

function linesOf({ name, overloads }: FunctionDeclaration): string[] {
  return overloads.map(({ id, member, parameters, result }) => {
    const names = new Map<string, string>();
    const types = parameters.map((parameter) => typeText(parameter, names)).join(", ");
    return `${name} ${id} ${member ? "x.f" : "f"}(${types}) ${typeText(result, names)}`;
  });
}

function macroLine({ name, receiver, arity }: Macro): string {
  return `macro ${name}:${arity}:${receiver}`;
}

/** Declarations that differ without any visible effect, or on purpose. */
const differences: readonly [ours: string | undefined, theirs: string | undefined, reason: string][] = [
  [
    "_?._ select_optional_field f(A, string) optional_type(B) 1.28-1.36",
    "_?._ select_optional_field f(dyn, string) optional_type(A) 1.28-1.36",
    "the checker handles the field itself",
  ],
  [
    undefined,
    "__not_strictly_false__ __not_strictly_false__ f(bool) bool 1.0-1.36",
    "a legacy name that expressions cannot contain",
  ],
  [undefined, "_in_ in_list f(A, list(A)) bool 1.0-1.36", "as before"],
  [undefined, "_in_ in_map f(A, map(A, B)) bool 1.0-1.36", "as before"],
  [undefined, "in in_list f(A, list(A)) bool 1.0-1.36", "as before"],
  [undefined, "in in_map f(A, map(A, B)) bool 1.0-1.36", "as before"],
  [
    "sign quantity_sign_member x.f(kubernetes.Quantity) int 1.28-1.36",
    undefined,
    "Kubernetes documents a member but declares only the global function",
  ],
  ...["field", "label"].map((kind): [string, string, string] => {
    const line = `${kind}Selector authorizer_${kind}selector x.f(kubernetes.authorization.ResourceCheck, string) kubernetes.authorization.ResourceCheck`;
    return [
      `${line} 1.31-1.36`,
      `${line} 1.0-1.36`,
      "the feature gate, which is on, overrides the version in Kubernetes",
    ];
  }),
];

/**
 * Cross-type comparisons are included in every version, because Kubernetes always declares them.
 */
function declaredBy(minor: number): string[] {
  const libraries = librariesOf(kubernetesLibraries, [1, minor]);
  const functions = [...standardFunctions, ...crossTypeOrder, ...libraries.flatMap((library) => library.functions)];
  const macros = [...standardMacros, ...libraries.flatMap((library) => library.macros)];
  return [...new Set([...functions.flatMap(linesOf), ...macros.map(macroLine)])];
}

test("declares the same functions and macros as Kubernetes in every version", () => {
  const [first, last] = [new Map<string, number>(), new Map<string, number>()];
  for (const minor of versions) {
    for (const line of declaredBy(minor)) {
      if (!first.has(line)) first.set(line, minor);
      last.set(line, minor);
    }
  }
  const lines = [...first].map(([line, since]) => `${line} 1.${since}-1.${last.get(line)}`).sort();
  const theirs = readFileSync(golden, "utf8").trim().split("\n");
  const expected = theirs.filter((line) => !differences.some((row) => row[1] === line));
  assert.deepEqual(lines, [...expected, ...differences.flatMap(([ours]) => ours ?? [])].sort());
});
