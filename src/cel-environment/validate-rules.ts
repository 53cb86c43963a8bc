/**
 * Runs the rules of a schema on an object: for each value its own rules, then those below. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go
 */
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import { isObject } from "../lib/json/values.ts";
import { type JsonObject, memberOf } from "../lib/structural-schema/json-object.ts";
import type { RuleNode } from "./compile-rules.ts";
import { Correlation, itemsByKey } from "./correlation.ts";
import { runtimeBudget } from "./limits.ts";
import { childPath, type Place, type RuleRun, runRules, type Unchanged } from "./run-rules.ts";
import { TimeLimit } from "./time-limit.ts";

/** The object to validate, and how. */
interface ValidateOptions {
  /** The object after the write. */
  readonly object: unknown;
  /**
   * The stored object; missing for a new one. Transition rules run only for values with an old
   * value.
   */
  readonly oldObject?: unknown;
  /** Path of the object for field errors. Default: the root. */
  readonly path?: string;
  readonly errors: FieldErrors;
  /** Receives violations by unchanged values, such as `spec: Invalid value: …`. */
  readonly warn?: (message: string) => void;
  /** Whether unchanged values can violate rules (KEP-4008, CRD validation ratcheting). */
  readonly keepUnchanged: boolean;
  /** Whether rules with `optionalOldSelf` run for values without an old value. */
  readonly optionalOldSelf: boolean;
  /** Units for all rules. Default: 10,000,000. */
  readonly budget?: number;
  /** The time limit of each rule. */
  readonly limit?: TimeLimit;
}

/**
 * Runs all rules, the root first, and adds field errors. If the budget is exceeded, no further rule
 * runs. Call it only for objects that are valid for the schema itself: kube-apiserver skips all
 * rules if types, required fields, lengths or enumerations are invalid.
 *
 * @param root the result of `compileRules`
 * @returns the remaining units, or -1 if the budget was exceeded
 */
export function validateRules(root: RuleNode, options: ValidateOptions): number {
  const { object, oldObject, path = "", errors, optionalOldSelf, limit = new TimeLimit() } = options;
  const run: RuleRun = {
    errors,
    optionalOldSelf,
    limit,
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
  if (value === null || value === undefined) return; // Rules do not run on null.
  runRules(place, run);
  for (const nested of node.allOf) {
    if (run.budget < 0) return;
    visit({ ...place, node: nested, unchanged: { current: undefined, parent: unchanged.parent } }, run);
  }
  if (run.budget < 0) return;
  if (Array.isArray(value)) visitItems(place, value, Array.isArray(old) ? old : [], run);
  else if (isObject(value)) visitMembers(place, value, isObject(old) ? old : {}, run);
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

/**
 * `apiVersion` and `kind` of a resource do not count: both objects are converted to the same
 * version.
 */
function memberUnchanged(unchanged: Unchanged, key: string): Unchanged {
  const isRoot = unchanged.current !== undefined && unchanged.parent === undefined;
  if (isRoot && (key === "apiVersion" || key === "kind")) return { current: undefined, parent: undefined };
  return within(unchanged, (current) => current.member(key));
}
