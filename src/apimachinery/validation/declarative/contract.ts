/** What the parts of the declarative validator share. Source: KEP-5073; apimachinery's api/validate and api/operation. */
import { equalValues } from "../../../lib/schema/equal.ts";
import type { Type } from "../../../lib/schema/schema.ts";
import { zeroValueOf } from "../../../lib/schema/zero.ts";
import type { FieldErrors } from "../../field-errors.ts";

/** One validation of one object. */
export interface Operation {
  readonly update: boolean;
  /** Whether an option is on, most of which are feature gates: `+k8s:ifEnabled` asks for them. */
  hasOption(name: string): boolean;
  readonly errors: FieldErrors;
}

/**
 * Reports what is wrong with a value.
 * @param path such as `spec.devices[0].name`; empty for the object itself
 * @param old the value it replaces; undefined where none corresponds to it
 * @returns whether the value fails, silently perhaps
 */
export type Check = (operation: Operation, path: string, value: unknown, old: unknown) => boolean;

/** One marker at one place. */
export interface Rule {
  readonly check: Check;
  /** A value that fails it is validated no further. */
  readonly stops: boolean;
  /** Rules of one subfield or item, which stop only each other; empty for those of the value itself. */
  readonly cohort: string;
  /** Reports nothing: it only stops others. */
  readonly silent?: boolean;
}

/** What a marker is at: a field, or what a list or a map holds. */
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

/** Whether there is a value, to Go: pointers that are not nil, lists and maps that are not empty, other values that are not zero. */
export function isSet(value: unknown, { type, pointer }: Target): boolean {
  if (isUnset(value)) return false;
  if (pointer) return true;
  if (type.kind === "list") return (value as readonly unknown[]).length > 0;
  if (type.kind === "map") return Object.keys(value).length > 0;
  return value !== zeroValueOf(type);
}

/** The value that Go has; undefined for a nil pointer. */
export function presentValue(value: unknown, { type, pointer }: Target): unknown {
  if (!isUnset(value)) return value;
  return pointer ? undefined : zeroValueOf(type);
}

/** Equality as upstream compares old and new values: a pointer that is set differs from one that is not. */
export function equalTargets(a: unknown, b: unknown, { type, pointer }: Target): boolean {
  return (!pointer || isUnset(a) === isUnset(b)) && equalValues(a, b, type);
}

/** A field of a struct; undefined where there is no struct. */
export function member(object: unknown, name: string): unknown {
  return isUnset(object) ? undefined : (object as Record<string, unknown>)[name];
}

/**
 * Runs rules of one cohort.
 * @param rules as {@link inOrder} returns them
 * @returns whether the value fails one that stops; those that do not stop are skipped then
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

/** Those that stop come first: all of these run. */
export function inOrder(rules: readonly Rule[]): Rule[] {
  return [...rules.filter(({ stops }) => stops), ...rules.filter(({ stops }) => !stops)];
}
