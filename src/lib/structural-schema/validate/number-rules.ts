/**
 * Checks bounds, factors and ranges of numbers.
 * Source: k8s.io/kube-openapi pkg/validation/validate, values.go and validator.go
 */
import { formatGoFloat, GoPrinted } from "../../json/go-value.ts";
import { type JsonNumber, NumberLiteral, toFloat } from "../../json/number-literal.ts";
import { int64Max, int64Min, isInteger, isJsonInteger, toInt64 } from "./go-numbers.ts";
import type { ValueSchema } from "./value-schema.ts";

interface NumberProblem {
  /** The message after the path. */
  readonly detail: string;
  /**
   * The value that the error shows; undefined for errors that upstream reports without field and
   * value.
   */
  readonly value: JsonNumber | GoPrinted | undefined;
}

/**
 * Lists the violated rules in upstream's order: the value's range, `multipleOf`, `minimum`,
 * `maximum`.
 */
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
    add(
      minimumProblem(value, minimum, {
        exact: range(minimum, "Minimum boundary"),
        exclusive: schema.source.exclusiveMinimum === true,
      }),
    );
  if (isSet(maximum))
    add(
      maximumProblem(value, maximum, {
        exact: range(maximum, "Maximum boundary"),
        exclusive: schema.source.exclusiveMaximum === true,
      }),
    );
  return problems;
}

const isSet = (value: JsonNumber | undefined | null): value is JsonNumber => value !== undefined && value !== null;

/** Checks whether a number of the data or of the schema fits the schema's type and format. */
function rangeProblem(
  value: JsonNumber,
  { types, format }: ValueSchema,
  what: string,
  path: string,
): NumberProblem | undefined {
  const [type] = types;
  if (types.length !== 1 || fits(value, type as string, format)) return undefined;
  const hasFormat =
    (type === "integer" && /^int(?:32|64)$/.test(format)) || (type === "number" && /^(?:float|double)$/.test(format));
  return {
    detail: `${what} value must be of type ${type}${hasFormat ? ` with format ${format}` : " (default format)"} in ${path}`,
    value: undefined,
  };
}

function fits(value: JsonNumber, type: string, format: string): boolean {
  const number = value instanceof NumberLiteral ? value.value : value;
  if (type === "integer") {
    if (typeof number === "number" && !Number.isInteger(number)) return false;
    if (format === "int32") return number >= -(2 ** 31) && number < 2 ** 31;
    return number >= int64Min && number <= int64Max;
  }
  return type !== "number" || format !== "float" || Number.isFinite(Math.fround(Number(number)));
}

/** A number and its bound: both int64 when possible, else both float64. */
interface Pair {
  readonly value: number | bigint;
  readonly bound: number | bigint;
  /** The forms that messages show. */
  readonly shownValue: number | bigint | GoPrinted;
  readonly shownBound: string;
}

/** @param exact whether the bound is of the schema's type */
function pairOf(value: JsonNumber, bound: JsonNumber, exact: boolean): Pair {
  if (exact && isInteger(value)) {
    const integer = toInt64(bound);
    return { value, bound: integer, shownValue: value, shownBound: String(integer) };
  }
  const float = toFloat(value);
  const floatBound = toFloat(bound);
  return {
    value: float,
    bound: floatBound,
    shownValue: new GoPrinted(formatGoFloat(float)),
    shownBound: formatGoFloat(floatBound),
  };
}

function multipleProblem(
  value: JsonNumber,
  factor: JsonNumber,
  { exact, path }: { exact: boolean; path: string },
): NumberProblem | undefined {
  const pair = pairOf(value, factor, exact);
  if (pair.bound <= 0) {
    const shown = exact && isInteger(value) ? pair.bound : new GoPrinted(pair.shownBound);
    return { detail: `factor MultipleOf declared for ${path} must be positive: ${pair.shownBound}`, value: shown };
  }
  const isMultiple =
    exact && isInteger(value)
      ? BigInt(value) % BigInt(pair.bound) === 0n
      : isJsonInteger(quotient(pair.value, pair.bound));
  return isMultiple ? undefined : { detail: `should be a multiple of ${pair.shownBound}`, value: pair.shownValue };
}

const quotient = (value: number | bigint, factor: number | bigint): number =>
  factor < 1 ? (1 / Number(factor)) * Number(value) : Number(value) / Number(factor);

interface Bound {
  readonly exact: boolean;
  readonly exclusive: boolean;
}

function minimumProblem(
  number: JsonNumber,
  minimum: JsonNumber,
  { exact, exclusive }: Bound,
): NumberProblem | undefined {
  const { value, bound, shownValue, shownBound } = pairOf(number, minimum, exact);
  if (exclusive ? value > bound : value >= bound) return undefined;
  return { detail: `should be greater than ${exclusive ? "" : "or equal to "}${shownBound}`, value: shownValue };
}

function maximumProblem(
  number: JsonNumber,
  maximum: JsonNumber,
  { exact, exclusive }: Bound,
): NumberProblem | undefined {
  const { value, bound, shownValue, shownBound } = pairOf(number, maximum, exact);
  if (exclusive ? value < bound : value <= bound) return undefined;
  return { detail: `should be less than ${exclusive ? "" : "or equal to "}${shownBound}`, value: shownValue };
}
