/**
 * Bounds, factors and ranges of numbers. A rule gives undefined where the number keeps it. Source: kube-openapi pkg/validation/validate, values.go
 * and validator.go
 */
import { formatNumber, int64Max, int64Min, isInt64, isJsonInteger, type JsonNumber, toInt64 } from "./go-numbers.ts";
import type { ValueSchema } from "./value-schema.ts";

export interface NumberProblem {
  /** After the path. */
  readonly detail: string;
  /** What the problem is said of; undefined for those that upstream says of nothing, without a field. */
  readonly value: JsonNumber | undefined;
}

/** In upstream's order: the value's range, `multipleOf`, `minimum`, `maximum`. */
export function numberProblems(value: JsonNumber, schema: ValueSchema, path: string): NumberProblem[] {
  const { multipleOf, minimum, maximum } = schema.source;
  const problems: NumberProblem[] = [];
  const range = (checked: JsonNumber, what: string): boolean => {
    const problem = rangeProblem(checked, schema, what, path);
    if (problem !== undefined) problems.push(problem);
    return problem === undefined;
  };
  const add = (problem: NumberProblem | undefined): void => {
    if (problem !== undefined) problems.push(problem);
  };
  range(value, "Checked");
  if (isSet(multipleOf)) add(multipleProblem(value, multipleOf, { exact: range(multipleOf, "MultipleOf"), path }));
  if (isSet(minimum))
    add(minimumProblem(value, minimum, { exact: range(minimum, "Minimum boundary"), exclusive: schema.source.exclusiveMinimum === true }));
  if (isSet(maximum))
    add(maximumProblem(value, maximum, { exact: range(maximum, "Maximum boundary"), exclusive: schema.source.exclusiveMaximum === true }));
  return problems;
}

const isSet = (value: JsonNumber | undefined | null): value is JsonNumber => value !== undefined && value !== null;

/** Whether a number, of the data or of the schema, is one of the schema's type and format. */
function rangeProblem(value: JsonNumber, { types, format }: ValueSchema, what: string, path: string): NumberProblem | undefined {
  const [type] = types;
  if (types.length !== 1 || fits(value, type as string, format)) return undefined;
  const known = (type === "integer" && /^int(?:32|64)$/.test(format)) || (type === "number" && /^(?:float|double)$/.test(format));
  return { detail: `${what} value must be of type ${type}${known ? ` with format ${format}` : " (default format)"} in ${path}`, value: undefined };
}

function fits(value: JsonNumber, type: string, format: string): boolean {
  if (type === "integer") {
    if (typeof value === "number" && !Number.isInteger(value)) return false;
    if (format === "int32") return value >= -(2 ** 31) && value < 2 ** 31;
    return value >= int64Min && value <= int64Max;
  }
  return type !== "number" || format !== "float" || Number.isFinite(Math.fround(Number(value)));
}

/** @param exact whether the factor is of the schema's type: then integers are looked at as such */
function multipleProblem(value: JsonNumber, factor: JsonNumber, { exact, path }: { exact: boolean; path: string }): NumberProblem | undefined {
  const asInteger = exact && isInt64(value);
  const by = asInteger ? toInt64(factor) : Number(factor);
  if (by <= 0) return { detail: `factor MultipleOf declared for ${path} must be positive: ${formatNumber(by)}`, value: by };
  if (asInteger ? BigInt(value) % BigInt(by) === 0n : isJsonInteger(quotient(Number(value), Number(by)))) return undefined;
  return { detail: `should be a multiple of ${formatNumber(by)}`, value };
}

const quotient = (value: number, factor: number): number => (factor < 1 ? (1 / factor) * value : value / factor);

interface Bound {
  readonly exact: boolean;
  readonly exclusive: boolean;
}

function minimumProblem(value: JsonNumber, bound: JsonNumber, { exact, exclusive }: Bound): NumberProblem | undefined {
  const minimum = exact && isInt64(value) ? toInt64(bound) : Number(bound);
  if (exclusive ? value > minimum : value >= minimum) return undefined;
  return { detail: `should be greater than ${exclusive ? "" : "or equal to "}${formatNumber(minimum)}`, value };
}

function maximumProblem(value: JsonNumber, bound: JsonNumber, { exact, exclusive }: Bound): NumberProblem | undefined {
  const maximum = exact && isInt64(value) ? toInt64(bound) : Number(bound);
  if (exclusive ? value < maximum : value <= maximum) return undefined;
  return { detail: `should be less than ${exclusive ? "" : "or equal to "}${formatNumber(maximum)}`, value };
}
