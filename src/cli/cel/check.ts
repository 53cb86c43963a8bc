/**
 * `coxswain cel check`: checks the expressions of definitions, policies and webhook configurations.
 */
import { isObject } from "../../lib/json/values.ts";
import type { Output } from "../output.ts";
import { checkDefinition } from "./check-definition.ts";
import { checkPolicy, checkWebhooks } from "./check-policy.ts";
import { type Checked, exitInvalid } from "./contract.ts";
import { type PlainObject, readDocuments } from "./documents.ts";

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

/** Checks files and prints the result. @returns the exit code @throws InputError */
export function checkFiles(files: readonly string[], options: { readonly json?: true }, output: Output): number {
  const found = files.flatMap(checkFile);
  if (options.json === true) output.out(`${JSON.stringify(found, null, 2)}\n`);
  else report(found, output);
  return found.some(({ problems }) => problems.length > 0) ? exitInvalid : 0;
}

function checkFile(file: string): Found[] {
  const objects = readDocuments(file).flatMap(objectsOf);
  return objects.flatMap((object) => {
    const kind = String(object.kind);
    const check = checks.get(kind);
    const name = isObject(object.metadata) ? String(object.metadata.name ?? "") : "";
    return check === undefined ? [] : [{ file, kind, name, ...check(object) }];
  });
}

/** The items of a list, or the object itself. */
function objectsOf(document: unknown): PlainObject[] {
  if (!isObject(document)) return [];
  return document.kind === "List" && Array.isArray(document.items) ? document.items.filter(isObject) : [document];
}

function report(found: readonly Found[], { out, err }: Output): void {
  if (found.length === 0) err("There is nothing to check: no definition, policy or webhook configuration.\n");
  for (const { file, kind, name, expressions, problems } of found) {
    for (const { field, message } of problems) err(`${file}: ${kind} ${name}: ${field}: ${message}\n`);
    const wrong =
      problems.length === 0 ? "all well" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`;
    out(`${file}: ${kind} ${name}: ${expressions} ${expressions === 1 ? "expression" : "expressions"}, ${wrong}\n`);
  }
}
