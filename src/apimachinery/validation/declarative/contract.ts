/**
 * Types and functions that the parts of the declarative validator share. Source: KEP-5073;
 * k8s.io/apimachinery@v0.36.0/pkg/api/validate and pkg/api/operation.
 */
import { equalValues } from "../../../lib/schema/equal.ts";
import type { Type } from "../../../lib/schema/schema.ts";
import { zeroValueOf } from "../../../lib/schema/zero.ts";
import type { FieldErrors } from "../../field-errors.ts";

/** One validation of one object. */
export interface Operation {
  readonly update: boolean;
  /** Whether an option of `+k8s:ifEnabled` is on. Most options are feature gates. */
  hasOption(name: string): boolean;
  readonly errors: FieldErrors;
}

/**
 * Reports the errors of a value.
 *
 * @param path such as `spec.devices[0].name`; empty for the object itself
 * @param old the value that it replaces; undefined if no old value corresponds to it
 * @returns whether the value fails; a silent rule fails without an error
 */
export type Check = (operation: Operation, path: string, value: unknown, old: unknown) => boolean;

/** The compiled form of one marker. */
export interface Rule {
  readonly check: Check;
  /** If a value fails this rule, the other rules of its cohort do not run. */
  readonly stops: boolean;
  /**
   * The subfield or item that the rule is for; rules stop only rules of the same cohort. Empty for
   * the value itself.
   */
  readonly cohort: string;
  /** The rule reports no errors and only stops other rules. */
  readonly silent?: boolean;
}

/** What a marker applies to: a field, or the content of a list or map. */
export interface Target {
  readonly type: Type;
  readonly pointer: boolean;
  /** The declared default. */
  readonly default?: unknown;
}

/** Whether a value is absent, or a nil pointer. */
export function isUnset(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/**
 * Whether Go regards the value as set: a pointer that is not nil, a list or map that is not empty,
 * another value that is not zero.
 */
export function isSet(value: unknown, { type, pointer }: Target): boolean {
  if (isUnset(value)) return false;
  if (pointer) return true;
  if (type.kind === "list") return (value as readonly unknown[]).length > 0;
  if (type.kind === "map") return Object.keys(value).length > 0;
  return value !== zeroValueOf(type);
}

/** @returns the value as Go has it, which is zero if absent; undefined for a nil pointer */
export function presentValue(value: unknown, { type, pointer }: Target): unknown {
  if (!isUnset(value)) return value;
  return pointer ? undefined : zeroValueOf(type);
}

/** Compares old and new values as upstream does: a nil pointer differs from a pointer to zero. */
export function equalTargets(a: unknown, b: unknown, { type, pointer }: Target): boolean {
  return (!pointer || isUnset(a) === isUnset(b)) && equalValues(a, b, type);
}

/** @returns a field of a struct; undefined if there is no struct */
export function member(object: unknown, name: string): unknown {
  return isUnset(object) ? undefined : (object as Record<string, unknown>)[name];
}

/**
 * Runs the rules of one cohort. After a stopping rule fails, only the other stopping rules run.
 *
 * @param rules as {@link inOrder} returns them
 * @returns whether the value fails a stopping rule
 */
export function runRules(
  rules: readonly Rule[],
  operation: Operation,
  path: string,
  value: unknown,
  old: unknown,
): boolean {
  let stopped = false;
  for (const { check, stops } of rules) {
    if (stopped && !stops) break;
    if (check(operation, path, value, old) && stops) stopped = true;
  }
  return stopped;
}

/** @returns the rules with the stopping ones first, all of which run */
export function inOrder(rules: readonly Rule[]): Rule[] {
  return [...rules.filter(({ stops }) => stops), ...rules.filter(({ stops }) => !stops)];
}
