/**
 * Runs the rules of a schema over an object: at each place the rules of that place, then what is below.
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/validation.go
 */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { RuleNode } from "./compile-rules.ts";
import { Correlation, isJsonObject, itemsByKey, type JsonObject, memberOf } from "./correlation.ts";
import { runtimeBudget } from "./limits.ts";
import { childPath, type Place, type RuleRun, runRules, type Unchanged } from "./run-rules.ts";

export interface ValidateOptions {
  /** As it is after the write. */
  readonly object: unknown;
  /** As it is stored; left out when the object is new. Transition rules run only where there is an old value. */
  readonly oldObject?: unknown;
  /** Where the object stands; at the root of a resource when left out. */
  readonly path?: string;
  readonly errors: FieldErrors;
  /** Gets what would be errors were it not for values that have not changed, such as `spec: Invalid value: …`; nobody does when left out. */
  readonly warn?: (message: string) => void;
  /** Whether what has not changed may stay invalid (ratcheting): true when the gate `CRDValidationRatcheting` is on. */
  readonly keepUnchanged: boolean;
  /** Whether rules with `optionalOldSelf` run where there is no old value: the same gate. */
  readonly optionalOldSelf: boolean;
  /** Units for all rules; 10,000,000 when left out. */
  readonly budget?: number;
  /** Asked now and then: true ends the evaluation of the rule at hand with an error. */
  readonly isInterrupted?: () => boolean;
}

/**
 * All rules of the object, root first. When the budget is spent an error says so, and no further rule runs.
 * @param root what `compileRules` made; call it only for objects that the schema itself accepts: upstream skips rules when types, required
 *   fields, lengths or enumerations are wrong, and says `some validation rules were not checked because the object was invalid; correct the
 *   existing errors to complete validation`
 * @returns units that are left, -1 when they did not suffice
 */
export function validateRules(root: RuleNode, options: ValidateOptions): number {
  const { object, oldObject, path = "", errors, optionalOldSelf, isInterrupted } = options;
  const run: RuleRun = {
    errors,
    optionalOldSelf,
    isInterrupted,
    warn: options.warn ?? (() => {}),
    budget: options.budget ?? runtimeBudget,
  };
  const current =
    options.keepUnchanged && oldObject !== undefined ? new Correlation(root.schema, object, oldObject) : undefined;
  visit(
    { node: root, path, value: object, old: oldObject ?? undefined, unchanged: { current, parent: undefined } },
    run,
  );
  return run.budget;
}

function visit(place: Place, run: RuleRun): void {
  const { node, value, old, unchanged } = place;
  if (value === null || value === undefined) return; // Rules about null stand above it.
  runRules(place, run);
  for (const nested of node.allOf) {
    if (run.budget < 0) return;
    visit({ ...place, node: nested, unchanged: { current: undefined, parent: unchanged.parent } }, run);
  }
  if (run.budget < 0) return;
  if (Array.isArray(value)) visitItems(place, value, Array.isArray(old) ? old : [], run);
  else if (isJsonObject(value)) visitMembers(place, value, isJsonObject(old) ? old : {}, run);
}

function visitItems(
  { node, path, unchanged }: Place,
  value: readonly unknown[],
  old: readonly unknown[],
  run: RuleRun,
): void {
  if (node.items === undefined) return;
  const find = itemsByKey(node.schema, old);
  for (const [index, item] of value.entries()) {
    const below = within(unchanged, (current) => current.item(index));
    visit(
      { node: node.items, path: `${path}[${index}]`, value: item, old: find?.(item) ?? undefined, unchanged: below },
      run,
    );
    if (run.budget < 0) return;
  }
}

function visitMembers({ node, path, unchanged }: Place, value: JsonObject, old: JsonObject, run: RuleRun): void {
  const { values, properties } = node;
  if (values === undefined && properties.size === 0) return;
  const isCorrelatable = [undefined, "granular", "atomic"].includes(node.schema["x-kubernetes-map-type"]);
  for (const key of Object.keys(value)) {
    const property = properties.get(key);
    const member = {
      value: value[key],
      old: (isCorrelatable ? memberOf(old, key) : undefined) ?? undefined,
      unchanged: memberUnchanged(unchanged, key),
    };
    if (values !== undefined) visit({ node: values, path: `${path}[${key}]`, ...member }, run);
    if (property !== undefined && run.budget >= 0)
      visit({ node: property, path: childPath(path, key), ...member }, run);
    if (run.budget < 0) return;
  }
}

function within(unchanged: Unchanged, find: (current: Correlation) => Correlation | undefined): Unchanged {
  return unchanged.current === undefined ? unchanged : { current: find(unchanged.current), parent: unchanged.current };
}

/** The version and kind of a resource differ out of sight: old and new are both converted to the request's. */
function memberUnchanged(unchanged: Unchanged, key: string): Unchanged {
  const isRoot = unchanged.current !== undefined && unchanged.parent === undefined;
  if (isRoot && (key === "apiVersion" || key === "kind")) return { current: undefined, parent: undefined };
  return within(unchanged, (current) => current.member(key));
}
