/** What every version declares: exactly upstream's functions, overloads and macros. */
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

/** Made by `tools/golden/cel declarations`. */
const golden = new URL("testdata/declarations.txt", import.meta.url);

/** Those in which something changed, and the ones before and after. */
const versions = [0, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36];

/** Parameters are called A, B and so on, in the order in which they come. */
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

/** Where we say it otherwise, to no one's notice. */
const differences: readonly [ours: string | undefined, theirs: string | undefined, why: string][] = [
  [
    "_?._ select_optional_field f(A, string) optional_type(B) 1.28-1.36",
    "_?._ select_optional_field f(dyn, string) optional_type(A) 1.28-1.36",
    "the checker looks at the field itself",
  ],
  [
    undefined,
    "__not_strictly_false__ __not_strictly_false__ f(bool) bool 1.0-1.36",
    "an old name that no expression can write",
  ],
  [undefined, "_in_ in_list f(A, list(A)) bool 1.0-1.36", "as before"],
  [undefined, "_in_ in_map f(A, map(A, B)) bool 1.0-1.36", "as before"],
  [undefined, "in in_list f(A, list(A)) bool 1.0-1.36", "as before"],
  [undefined, "in in_map f(A, map(A, B)) bool 1.0-1.36", "as before"],
  [
    "sign quantity_sign_member x.f(kubernetes.Quantity) int 1.28-1.36",
    undefined,
    "the documentation has a member where upstream has the global form alone",
  ],
  ...["field", "label"].map((kind): [string, string, string] => {
    const line = `${kind}Selector authorizer_${kind}selector x.f(kubernetes.authorization.ResourceCheck, string) kubernetes.authorization.ResourceCheck`;
    return [
      `${line} 1.31-1.36`,
      `${line} 1.0-1.36`,
      "upstream's gate, which is on, hides the version that is given beside it",
    ];
  }),
];

/** Of comparisons across types it is told only whether they are allowed: upstream declares them always. */
function declaredBy(minor: number): string[] {
  const libraries = librariesOf(kubernetesLibraries, [1, minor]);
  const functions = [...standardFunctions, ...crossTypeOrder, ...libraries.flatMap((library) => library.functions)];
  const macros = [...standardMacros, ...libraries.flatMap((library) => library.macros)];
  return [...new Set([...functions.flatMap(linesOf), ...macros.map(macroLine)])];
}

test("every version declares what upstream's declares", () => {
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
