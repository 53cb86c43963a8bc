/**
 * Numbers that are not what their value suggests. Go decodes untyped JSON to an int64 if the text has
 * neither a fraction nor an exponent and fits, otherwise to a float64: `2` and `2.0` differ until
 * they are encoded. Source: sigs.k8s.io/json, kubernetes_patch.go (PreserveInts)
 */
import { JsonSyntaxError } from "./syntax-error.ts";

/**
 * A number that Go does not decode as an integer: its text has a fraction, an exponent, or too many
 * digits. Decoded objects contain it only for a float whose value is a safe integer; their other
 * floats are plain numbers.
 */
export class NumberLiteral {
  readonly #text: string;
  readonly #value: number;

  /** @param value differs from that of the text only for -0, which Go reads again as 0 */
  constructor(text: string, value = Number(text)) {
    this.#text = text;
    this.#value = value;
  }

  /** As encoders write it. */
  get text(): string {
    return this.#text;
  }

  get value(): number {
    return this.#value;
  }

  /** @throws TypeError, as for a bigint: `encodeAny` writes the text */
  toJSON(): never {
    throw new TypeError("a NumberLiteral has no value for JSON.stringify");
  }
}

/** A number of parsed JSON. */
export type JsonNumber = number | bigint | NumberLiteral;

/** Whether a value is a number. */
export function isNumber(value: unknown): value is JsonNumber {
  return typeof value === "number" || typeof value === "bigint" || value instanceof NumberLiteral;
}

/** The value of a number as a double. */
export function toFloat(value: JsonNumber): number {
  return value instanceof NumberLiteral ? value.value : Number(value);
}

/**
 * Gives the numbers of a parsed text Go's types, in place: an int64 is a number if it is safe,
 * otherwise a bigint; a float64 is a NumberLiteral if its value is a safe integer, otherwise a number.
 *
 * @throws JsonSyntaxError with Go's message for a number outside the range of doubles
 */
export function asGoNumbers(value: unknown): unknown {
  return replaceNumbers(value, (number) => {
    if (!(number instanceof NumberLiteral)) return isInt64(number) ? number : Number(number);
    const float = doubleOf(number);
    return Number.isSafeInteger(float) ? new NumberLiteral(String(float), float) : float;
  });
}

/**
 * Gives numbers the types that Go decodes after it has encoded them, in place: floats without a
 * fraction become integers.
 *
 * @throws JsonSyntaxError with Go's message for a number outside the range of doubles
 */
export function asReadAgain(value: unknown): unknown {
  return replaceNumbers(value, (number) => {
    if (typeof number === "bigint") return isInt64(number) ? number : Number(number);
    const float = number instanceof NumberLiteral ? doubleOf(number) : number;
    if (!Number.isInteger(float) || Number.isSafeInteger(float)) return float + 0; // An integer is never -0.
    const integer = BigInt(float);
    return isInt64(integer) ? integer : float;
  });
}

/**
 * Replaces each NumberLiteral by a number, in place.
 *
 * @throws JsonSyntaxError with Go's message for a number outside the range of doubles
 */
export function resolveLiterals(value: unknown): unknown {
  return replaceNumbers(value, (number) => (number instanceof NumberLiteral ? doubleOf(number) : number));
}

/**
 * Replaces each NumberLiteral by a number that has the same text, in place; others keep theirs.
 *
 * @param options.isBounded whether a number must be in the range of doubles
 * @throws JsonSyntaxError with Go's message for a number outside this range
 */
export function keepSpellings(value: unknown, { isBounded }: { readonly isBounded: boolean }): unknown {
  return replaceNumbers(value, (number) => {
    if (!(number instanceof NumberLiteral)) return number;
    const float = isBounded ? doubleOf(number) : number.value;
    return String(float) === number.text ? float : number;
  });
}

/** Whether Go's int64 has the value. */
export function isInt64(value: number | bigint): boolean {
  return typeof value === "bigint" ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);
}

function doubleOf({ text, value }: NumberLiteral): number {
  if (Number.isFinite(value)) return value;
  throw new JsonSyntaxError(`json: cannot unmarshal number ${text} into Go value of type float64`);
}

/** Replaces numbers other than safe integers, in place. Iterative, because the tree can be very deep. */
function replaceNumbers(value: unknown, replace: (number: JsonNumber) => unknown): unknown {
  if (isUnusual(value)) return replace(value);
  if (typeof value !== "object" || value === null) return value;
  const pending: object[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (let index = 0; index < next.length; index++) replaceIn(next, index, replace, pending);
      continue;
    }
    for (const key in next) replaceIn(next as Record<string, unknown>, key, replace, pending);
  }
  return value;
}

function replaceIn<Key extends string | number>(
  holder: Record<Key, unknown>,
  key: Key,
  replace: (number: JsonNumber) => unknown,
  pending: object[],
): void {
  const member = holder[key];
  if (isUnusual(member)) holder[key] = replace(member);
  else if (typeof member === "object" && member !== null) pending.push(member);
}

function isUnusual(value: unknown): value is JsonNumber {
  if (typeof value === "number") return !Number.isSafeInteger(value);
  return typeof value === "bigint" || value instanceof NumberLiteral;
}
