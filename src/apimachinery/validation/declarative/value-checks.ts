/**
 * Rules for one value. Source: k8s.io/apimachinery@v0.36.0/pkg/api/validate;
 * k8s.io/code-generator@v0.36.0/cmd/validation-gen/validators.
 */
import { quoteGo } from "../../../lib/json/quote.ts";
import { isLongerThan } from "../../../lib/names/names.ts";
import { zeroValueOf } from "../../../lib/schema/zero.ts";
import type { FieldErrors, RuleLevel } from "../../field-errors.ts";
import { type Check, isSet, presentValue, type Rule, type Target } from "./contract.ts";
import { formats } from "./formats.ts";

/**
 * @param argument the text after the equals sign of the marker
 * @throws Error for a malformed argument
 */
type MakeRules = (target: Target, level: RuleLevel, argument: string) => readonly Rule[];

/** @param finds whether the value, which can be absent, is invalid */
function reporting(
  finds: (value: unknown) => boolean,
  report: (errors: FieldErrors, path: string, value: unknown) => void,
): Check {
  return ({ errors }, path, value) => {
    if (!finds(value)) return false;
    report(errors, path, value);
    return true;
  };
}

/** Checks values except nil pointers. */
function valueCheck(
  target: Target,
  level: RuleLevel,
  origin: string,
  finds: (value: unknown) => boolean,
  report: Report,
): Check {
  const mark = { origin, level };
  return ({ errors }, path, raw) => {
    const value = presentValue(raw, target);
    if (value === undefined || !finds(value)) return false;
    report(errors.marked(mark), path, value);
    return true;
  };
}

type Report = (errors: FieldErrors, path: string, value: unknown) => void;

const runs = (check: Check): Rule => ({ check, stops: false, cohort: "" });
const stops = (check: Check): Rule => ({ check, stops: true, cohort: "" });

const isRequired: MakeRules = (target, level) => {
  const mark = { origin: "", level };
  return [
    stops(
      reporting(
        (value) => !isSet(value, target),
        (errors, path) => errors.marked(mark).required(path),
      ),
    ),
  ];
};

/** Stops the other rules if the value is not set, without an error. */
const stopsUnset = (target: Target): Rule => ({
  ...stops((_operation, _path, value) => !isSet(value, target)),
  silent: true,
});

/**
 * The server requires a field with a default, because defaulting sets it, unless the default is the
 * zero value.
 */
const isOptional: MakeRules = (target, level, argument) => {
  if (target.default === undefined) return [stopsUnset(target)];
  const nilable = target.pointer || target.type.kind === "list" || target.type.kind === "map";
  return !nilable && target.default === zeroValueOf(target.type) ? [] : isRequired(target, level, argument);
};

const isForbidden: MakeRules = (target, level) => {
  const mark = { origin: "", level };
  return [
    stops(
      reporting(
        (value) => isSet(value, target),
        (errors, path) => errors.marked(mark).forbidden(path),
      ),
    ),
    stopsUnset(target),
  ];
};

/** Fails on every update that reaches it: the check of the field skips unchanged values. */
const isImmutable: MakeRules = (_target, level) => {
  const mark = { origin: "immutable", level };
  return [
    stops(({ update, errors }, path) => {
      if (update) errors.marked(mark).invalid(path, null, "field is immutable");
      return update;
    }),
  ];
};

function integer(argument: string): bigint {
  if (!/^-?\d+$/.test(argument)) throw new Error(`${argument} is not an integer`);
  return BigInt(argument);
}

const hasMinimum: MakeRules = (target, level, argument) => {
  const least = integer(argument);
  const text = `must be greater than or equal to ${least}`;
  return [
    runs(
      valueCheck(
        target,
        level,
        "minimum",
        (value) => (value as number) < least,
        (errors, path, value) => errors.invalid(path, value, text),
      ),
    ),
  ];
};

const hasMaximum: MakeRules = (target, level, argument) => {
  const most = integer(argument);
  const text = `must be less than or equal to ${most}`;
  return [
    runs(
      valueCheck(
        target,
        level,
        "maximum",
        (value) => (value as number) > most,
        (errors, path, value) => errors.invalid(path, value, text),
      ),
    ),
  ];
};

const hasMaxItems: MakeRules = (target, level, argument) => {
  const most = Number(integer(argument));
  const lengthOf = (value: unknown): number => (value as readonly unknown[]).length;
  const report: Report = (errors, path, value) => errors.tooMany(path, lengthOf(value), most);
  return [stops(valueCheck(target, level, "maxItems", (value) => lengthOf(value) > most, report))];
};

const hasMaxLength: MakeRules = (target, level, argument) => {
  const most = Number(integer(argument));
  const finds = (value: unknown): boolean => isLongerThan(value as string, most);
  return [runs(valueCheck(target, level, "maxLength", finds, (errors, path) => errors.tooLongText(path, most)))];
};

const hasMaxBytes: MakeRules = (target, level, argument) => {
  const most = Number(integer(argument));
  return [
    runs(
      valueCheck(
        target,
        level,
        "maxBytes",
        (value) => Buffer.byteLength(value as string) > most,
        (errors, path) => errors.tooLong(path, most),
      ),
    ),
  ];
};

const differs: MakeRules = (target, level, argument) => {
  const text = `must not be equal to ${target.type.kind === "string" ? quoteGo(argument) : argument}`;
  return [
    runs(
      valueCheck(
        target,
        level,
        "neq",
        (value) => String(value) === argument,
        (errors, path, value) => errors.invalid(path, value, text),
      ),
    ),
  ];
};

const isOfEnum: MakeRules = (target, level) => {
  const accepted = (target.type.kind === "string" && target.type.enum) || [];
  if (accepted.length === 0) throw new Error("an enumeration has no values");
  return [
    runs(
      valueCheck(
        target,
        level,
        "",
        (value) => !accepted.includes(value as string),
        (errors, path, value) => errors.notSupported(path, value, accepted),
      ),
    ),
  ];
};

const hasFormat: MakeRules = (target, level, argument) => {
  const format = formats.get(argument);
  if (format === undefined) throw new Error(`no format ${argument}`);
  const mark = { origin: `format=${argument}`, level };
  return [
    runs(({ errors }, path, raw) => {
      const value = presentValue(raw, target);
      if (value === undefined) return false;
      const before = errors.causes.length;
      format(value as string, path, errors.marked(mark));
      return errors.causes.length > before;
    }),
  ];
};

/**
 * Compiles a marker that is a rule for one value.
 *
 * @param name of the marker
 * @param argument the text after its equals sign
 * @throws Error for an unknown marker, or an argument that it does not accept
 */
export function rulesNamed(
  name: string,
  { target, level }: { target: Target; level: RuleLevel },
  argument = "",
): readonly Rule[] {
  const make = valueRules.get(name);
  if (make === undefined) throw new Error(`unknown marker +k8s:${name}`);
  return make(target, level, argument);
}

/** By the name of the marker. */
const valueRules: ReadonlyMap<string, MakeRules> = new Map([
  ["enum", isOfEnum],
  ["forbidden", isForbidden],
  ["format", hasFormat],
  ["immutable", isImmutable],
  ["maxBytes", hasMaxBytes],
  ["maxItems", hasMaxItems],
  ["maxLength", hasMaxLength],
  ["maximum", hasMaximum],
  ["minimum", hasMinimum],
  ["neq", differs],
  ["optional", isOptional],
  ["required", isRequired],
]);

const changes: ReadonlyMap<string, { readonly detail: string; found(was: boolean, is: boolean): boolean }> = new Map([
  ["NoSet", { detail: "field cannot be set once created", found: (was, is) => !was && is }],
  ["NoUnset", { detail: "field cannot be cleared once set", found: (was, is) => was && !is }],
  ["NoModify", { detail: "field cannot be modified once set", found: (was, is) => was && is }],
]);

/**
 * Compiles all `+k8s:update` markers of a field to one rule.
 *
 * @param constraints `NoSet`, `NoUnset` or `NoModify`
 * @throws Error for other constraints
 */
export function updateRule(target: Target, level: RuleLevel, constraints: readonly string[]): Rule {
  const unknown = constraints.find((constraint) => !changes.has(constraint));
  if (unknown !== undefined) throw new Error(`no update constraint ${unknown}`);
  const mark = { origin: "update", level };
  const forbidden = [...changes].filter(([name]) => constraints.includes(name)).map(([, change]) => change);
  const exists = (value: unknown): boolean =>
    (target.type.kind === "struct" && !target.pointer) || isSet(value, target);
  return stops(({ update, errors }, path, value, old) => {
    if (!update) return false;
    const found = forbidden.filter((change) => change.found(exists(old), exists(value)));
    for (const { detail } of found) errors.marked(mark).invalid(path, null, detail);
    return found.length > 0;
  });
}
