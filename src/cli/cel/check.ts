/**
 * `coxswain cel check`: checks the expressions of definitions, policies and webhook configurations.
 */

import { isObject } from "../../lib/json/values.ts";
import { FlagError } from "../flags/contract.ts";
import type { Output } from "../output.ts";
import type { OutputFormat } from "../subcommands.ts";
import { checkDefinition } from "./check-definition.ts";
import { checkPolicy, checkWebhooks } from "./check-policy.ts";
import { type Checked, exitInvalid } from "./contract.ts";
import { InputError, type PlainObject, readDocuments } from "./documents.ts";
import type { Selected } from "./known-kinds.ts";

const checks = new Map<string, (object: PlainObject) => Checked>([
  ["CustomResourceDefinition", checkDefinition],
  ["ValidatingAdmissionPolicy", checkPolicy],
  ["MutatingAdmissionPolicy", checkPolicy],
  ["ValidatingWebhookConfiguration", checkWebhooks],
  ["MutatingWebhookConfiguration", checkWebhooks],
]);

interface Found extends Checked {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
}

interface Input {
  readonly file: string;
  readonly kind: string;
  readonly object: PlainObject;
}

/** The options of `coxswain cel check`. */
export interface CheckOptions extends Selected {
  /** An expression to check in addition to those of the files. */
  readonly expr?: string;
  readonly output: OutputFormat;
  readonly json?: true;
}

/** Checks files and prints the result. @returns the exit code @throws FlagError · InputError */
export async function checkFiles(files: readonly string[], options: CheckOptions, output: Output): Promise<number> {
  const { expr, kind, resource } = options;
  if (files.length === 0 && expr === undefined) throw new FlagError("a file or --expr is required");
  if (expr !== undefined && kind.length === 0 && resource.length === 0)
    throw new InputError("--expr needs the kind of its object: --kind, or --resource");
  const inputs = files.flatMap(inputsOf);
  const types = await loadTypes(inputs, options);
  const found = inputs.flatMap((input) => checkInput(input, types));
  if (expr !== undefined) found.push({ file: "-", kind: "expression", name: expr, ...types.checkExpression(expr) });
  if (options.json === true || options.output === "json") output.out(`${JSON.stringify(found, null, 2)}\n`);
  else report(found, output);
  return found.some(({ problems }) => problems.length > 0) ? exitInvalid : 0;
}

function inputsOf(file: string): Input[] {
  const objects = readDocuments(file).flatMap(objectsOf);
  return objects.map((object) => ({ file, kind: String(object.kind), object }));
}

/** Checks against the schemas of kinds. */
interface Types {
  addTo(policy: PlainObject, checked: Checked): Checked;
  checkExpression(expression: string): Checked;
}

const typedKind = "ValidatingAdmissionPolicy";

/** Loads schemas only if something is checked against them. */
async function loadTypes(inputs: readonly Input[], options: CheckOptions): Promise<Types> {
  if (options.expr === undefined && !inputs.some(({ kind }) => kind === typedKind))
    return { addTo: (_policy, checked) => checked, checkExpression: () => ({ expressions: 0, problems: [] }) };
  const { checkTypes, openKinds, selectedKinds, typeProblems } = await import("./known-kinds.ts");
  const definitions = inputs.filter(({ kind }) => kind === "CustomResourceDefinition");
  const catalog = openKinds(definitions.map(({ object }) => object));
  const selected = selectedKinds(catalog, options);
  return {
    addTo(policy, checked) {
      const known = new Set(checked.problems.map(({ field }) => field));
      const problems = [...checked.problems, ...typeProblems(catalog, policy, { selected, known })];
      return { ...checked, problems };
    },
    checkExpression(expression) {
      const message = checkTypes(selected ?? [])(expression).trimEnd();
      return { expressions: 1, problems: message === "" ? [] : [{ field: "--expr", message }] };
    },
  };
}

function checkInput({ file, kind, object }: Input, { addTo }: Types): Found[] {
  const check = checks.get(kind);
  if (check === undefined) return [];
  const name = isObject(object.metadata) ? String(object.metadata.name ?? "") : "";
  const checked = check(object);
  return [{ file, kind, name, ...(kind === typedKind ? addTo(object, checked) : checked) }];
}

/** The items of a list, or the object itself. */
function objectsOf(document: unknown): PlainObject[] {
  if (!isObject(document)) return [];
  return document.kind === "List" && Array.isArray(document.items) ? document.items.filter(isObject) : [document];
}

function report(found: readonly Found[], { out, err }: Output): void {
  if (found.length === 0) err("There is nothing to check: no definition, policy or webhook configuration.\n");
  for (const { file, kind, name, expressions, problems } of found) {
    if (kind === "expression") {
      for (const { field, message } of problems) err(`${field}: ${message}\n`);
      if (problems.length === 0) out("--expr: all well\n");
      continue;
    }
    for (const { field, message } of problems) err(`${file}: ${kind} ${name}: ${field}: ${message}\n`);
    const wrong =
      problems.length === 0 ? "all well" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
    out(`${file}: ${kind} ${name}: ${expressions} ${expressions === 1 ? "expression" : "expressions"}, ${wrong}\n`);
  }
}
