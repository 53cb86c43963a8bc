/**
 * Kubernetes quantities (`100m`, `1.5Gi`, `12e6`): parsing, canonical text, and exact arithmetic.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/api/resource/quantity.go
 */
import { trimGo } from "../json/trim-go.ts";
import { trimStartOf } from "../text/trim.ts";

/** How a quantity is printed: `100m`, `1Gi` or `1e3`. */
export type QuantityFormat = "DecimalSI" | "BinarySI" | "DecimalExponent";

/** A quantity, whose exact value is mantissa × 10^exponent. */
export interface Quantity {
  readonly mantissa: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** The original text, where upstream keeps it because it is almost always canonical. */
  readonly text?: string;
}

/** Text that is not a quantity. The message is upstream's. */
export class QuantityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "QuantityError";
  }
}

const formatWrong = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const smallestExponent = -9;
const int64Max = 2n ** 63n - 1n;
/** The length of a quantity, because parsing takes quadratic time. Upstream has no limit. */
const textLengthMax = 1024;
/** The digits for which upstream uses an int64; with more digits it rounds and caps. */
const fastDigitsMax = 18;

/** The quantity `0`. */
export const zeroQuantity: Quantity = { mantissa: 0n, exponent: 0, format: "DecimalSI", text: "0" };

/**
 * Parses a quantity.
 * @throws QuantityError
 */
export function parseQuantity(text: string): Quantity {
  if (text === "" || text.length > textLengthMax) throw new QuantityError(formatWrong);
  if (text === "0") return zeroQuantity;
  const { negative, hasDigits, whole, fraction, suffix } = splitQuantity(text);
  const { base, exponent, format } = interpretSuffix(suffix);
  const digits = whole + fraction;
  const magnitude = BigInt(digits);
  if (isFast(whole, fraction, exponent, format)) {
    const value = format === "BinarySI" ? magnitude << BigInt(exponent) : magnitude;
    if (value <= int64Max) {
      const scale = (format === "BinarySI" ? 0 : exponent) - fraction.length;
      const keepsText =
        format === "BinarySI"
          ? (magnitude & 7n) !== 0n
          : scale % 3 === 0 && !digits.endsWith("000") && !digits.startsWith("0");
      return { mantissa: negative ? -value : value, exponent: scale, format, ...(keepsText && { text }) };
    }
  }
  // Upstream's fast path accepts a quantity without digits as zero.
  if (!hasDigits) throw new QuantityError("unable to parse numeric part of quantity");
  const exact = base === 2 ? magnitude << BigInt(exponent) : magnitude;
  const scale = (base === 10 ? exponent : 0) - fraction.length;
  return roundAndCap(exact, scale, format, negative);
}

/**
 * Converts a quantity to the text that upstream writes.
 * @throws QuantityError
 */
export function canonicalQuantity(value: string | number | bigint): string {
  if (typeof value === "string" && keptAsIs.test(value)) return value;
  return formatQuantity(parseQuantity(typeof value === "string" ? trimGo(value) : String(value)));
}

/** The most common canonical texts. */
const keptAsIs = /^(?![0-9]*000m?$)[1-9][0-9]{0,17}m?$/;

/** Formats a quantity as upstream does. */
export function formatQuantity(quantity: Quantity): string {
  if (quantity.mantissa === 0n) return "0";
  if (quantity.text !== undefined) return quantity.text;
  if (quantity.format === "BinarySI") {
    const whole = exactInteger(quantity);
    if (whole !== undefined && (whole >= 1024n || whole <= -1024n)) return formatBinary(whole);
    return formatDecimal(quantity, "DecimalSI");
  }
  return formatDecimal(quantity, quantity.format);
}

/** Compares two quantities exactly. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const signs = compare(signOf(a), signOf(b));
  if (signs !== 0 || a.mantissa === 0n) return signs;
  if (a.exponent === b.exponent) return compare(a.mantissa, b.mantissa);
  const small = compareSmall(a, b);
  if (small !== undefined) return small;
  const larger = compare(magnitudeOf(a), magnitudeOf(b));
  if (larger !== 0) return signOf(a) > 0 ? larger : (-larger as -1 | 1);
  const [left, right] = align(a, b);
  return compare(left, right);
}

/** Powers of ten that are safe integers. */
const powersOfTen = Array.from({ length: 16 }, (_none, exponent) => Number(10n ** BigInt(exponent)));

/** Compares as numbers, which is faster; undefined when they are not exact. */
function compareSmall(a: Quantity, b: Quantity): -1 | 0 | 1 | undefined {
  const apart = a.exponent - b.exponent;
  const left = Number(a.mantissa) * (apart > 0 ? (powersOfTen[apart] ?? Number.NaN) : 1);
  const right = Number(b.mantissa) * (apart < 0 ? (powersOfTen[-apart] ?? Number.NaN) : 1);
  return Number.isSafeInteger(left) && Number.isSafeInteger(right) ? compare(left, right) : undefined;
}

/** Adds two quantities; the sum has the format of the first one unless it is zero. */
export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const format = a.mantissa === 0n ? b.format : a.format;
  if (a.mantissa === 0n || b.mantissa === 0n) return { ...withoutText(a.mantissa === 0n ? b : a), format };
  if (a.exponent === b.exponent) return { mantissa: a.mantissa + b.mantissa, exponent: a.exponent, format };
  // The sum of values of very different size is the larger one; its exact digits would be too many.
  if (Math.abs(magnitudeOf(a) - magnitudeOf(b)) > digitsApartMax)
    return { ...withoutText(magnitudeOf(a) > magnitudeOf(b) ? a : b), format };
  const [left, right] = align(a, b);
  return { mantissa: left + right, exponent: Math.min(a.exponent, b.exponent), format };
}

/** Subtracts a quantity from another one. */
export function subtractQuantities(a: Quantity, b: Quantity): Quantity {
  return addQuantities(a, { mantissa: -b.mantissa, exponent: b.exponent, format: b.format });
}

/** The value if it is an integer of 64 bits. */
export function asInteger(quantity: Quantity): number | bigint | undefined {
  if (magnitudeOf(quantity) > 19) return undefined;
  const whole = exactInteger(quantity);
  return whole === undefined || whole > int64Max || whole < -int64Max - 1n ? undefined : demote(whole);
}

/** The value, rounded away from zero to an integer and clamped to 64 bits. */
export function integerValue(quantity: Quantity): number | bigint {
  return scaledValue(quantity, 0);
}

/** The value in thousandths, rounded away from zero to an integer and clamped to 64 bits. */
export function milliValue(quantity: Quantity): number | bigint {
  return scaledValue(quantity, -3);
}

/** The nearest floating-point number. */
export function asApproximateFloat(quantity: Quantity): number {
  return Number(`${quantity.mantissa}e${quantity.exponent}`);
}

interface Split {
  readonly negative: boolean;
  readonly hasDigits: boolean;
  /** Digits before the dot without leading zeros, `0` when there are none. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

/** Both are matched without backtracking: neither part can begin as the other one ends. */
const numberShape = /^([+-]?)([0-9]*)(?:\.([0-9]*))?/;
const suffixShape = /^[eEinumkKMGTP]*[-+]?[0-9]*$/;

function splitQuantity(text: string): Split {
  const [number, sign, digits = "", fraction = ""] = numberShape.exec(text) as RegExpExecArray;
  const suffix = text.slice(number.length);
  if (!suffixShape.test(suffix)) throw new QuantityError(formatWrong);
  return {
    negative: sign === "-",
    hasDigits: digits !== "" || fraction !== "",
    whole: trimStartOf(digits, "0") || "0",
    fraction,
    suffix,
  };
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function interpretSuffix(suffix: string): Suffix {
  const decimal = decimalSuffixes.indexOf(suffix);
  if (decimal >= 0) return { base: 10, exponent: (decimal - 3) * 3, format: "DecimalSI" };
  const binary = binarySuffixes.indexOf(suffix);
  if (binary >= 0) return { base: 2, exponent: binary * 10, format: "BinarySI" };
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) throw new QuantityError("unable to parse quantity's suffix");
  const exponent = BigInt(suffix.slice(suffix[1] === "+" ? 2 : 1));
  if (exponent > int64Max || exponent < -int64Max - 1n) throw new QuantityError("unable to parse quantity's suffix");
  return { base: 10, exponent: Number(BigInt.asIntN(32, exponent)), format: "DecimalExponent" };
}

function isFast(whole: string, fraction: string, exponent: number, format: QuantityFormat): boolean {
  if (format === "BinarySI") return fraction === "" && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  return whole.length + fraction.length <= fastDigitsMax && exponent - fraction.length >= smallestExponent;
}

/**
 * Rounds away from zero to 10^-9, so that no request becomes zero. Caps binary quantities at the
 * largest int64.
 */
function roundAndCap(magnitude: bigint, exponent: number, format: QuantityFormat, negative: boolean): Quantity {
  let rounded = magnitude;
  let scale = exponent;
  if (scale < smallestExponent) {
    rounded = divideRoundingUp(magnitude, smallestExponent - scale);
    scale = smallestExponent;
  }
  if (format !== "BinarySI") return { mantissa: negative ? -rounded : rounded, exponent: scale, format };
  const one = 10n ** BigInt(-scale);
  const capped = rounded > int64Max * one ? int64Max * one : rounded;
  return {
    mantissa: negative ? -capped : capped,
    exponent: scale,
    format: capped < one && capped > 0n ? "DecimalSI" : "BinarySI",
  };
}

/**
 * @param magnitude not negative
 * @param places the number of decimal places to remove
 */
function divideRoundingUp(magnitude: bigint, places: number): bigint {
  if (magnitude === 0n) return 0n;
  if (places > String(magnitude).length) return 1n;
  const divisor = 10n ** BigInt(places);
  return (magnitude + divisor - 1n) / divisor;
}

function formatBinary(whole: bigint): string {
  let amount = whole;
  let power = 0;
  while (amount % 1024n === 0n) {
    amount /= 1024n;
    power++;
  }
  return `${amount}${binarySuffixes[power] ?? ""}`;
}

function formatDecimal({ mantissa, exponent }: Quantity, format: "DecimalSI" | "DecimalExponent"): string {
  const digits = String(mantissa);
  let zeros = 0;
  while (zeros < digits.length && digits[digits.length - 1 - zeros] === "0") zeros++;
  const scale = exponent + zeros;
  const padding = ((scale % 3) + 3) % 3;
  const number = digits.slice(0, digits.length - zeros) + "0".repeat(padding);
  const power = scale - padding;
  if (format === "DecimalExponent") return power === 0 ? number : `${number}e${power}`;
  // Like upstream, without a suffix beyond 10^18.
  return `${number}${decimalSuffixes[power / 3 + 3] ?? ""}`;
}

function scaledValue(quantity: Quantity, scale: number): number | bigint {
  const places = quantity.exponent - scale;
  const negative = quantity.mantissa < 0n;
  const magnitude = negative ? -quantity.mantissa : quantity.mantissa;
  if (magnitude === 0n) return 0;
  if (places > 0 && magnitudeOf(quantity) - scale > 19) return negative ? -int64Max : int64Max;
  const scaled = places >= 0 ? magnitude * 10n ** BigInt(places) : divideRoundingUp(magnitude, -places);
  const clamped = scaled > int64Max ? int64Max : scaled;
  return demote(negative ? -clamped : clamped);
}

/** Returns undefined when there is a fraction, or the value is extremely large. */
function exactInteger({ mantissa, exponent }: Quantity): bigint | undefined {
  if (exponent > digitsApartMax) return undefined;
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  if (-exponent > String(mantissa).length) return mantissa === 0n ? 0n : undefined;
  const divisor = 10n ** BigInt(-exponent);
  return mantissa % divisor === 0n ? mantissa / divisor : undefined;
}

/** The difference in digits up to which a sum is exact. */
const digitsApartMax = 1000;

function align(a: Quantity, b: Quantity): [bigint, bigint] {
  const exponent = Math.min(a.exponent, b.exponent);
  return [a.mantissa * 10n ** BigInt(a.exponent - exponent), b.mantissa * 10n ** BigInt(b.exponent - exponent)];
}

/** The number of decimal digits before the point; negative for small fractions. */
function magnitudeOf({ mantissa, exponent }: Quantity): number {
  return String(mantissa < 0n ? -mantissa : mantissa).length + exponent;
}

function signOf({ mantissa }: Quantity): number {
  return mantissa === 0n ? 0 : mantissa < 0n ? -1 : 1;
}

function compare<T extends number | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0;
}

function withoutText({ mantissa, exponent, format }: Quantity): Quantity {
  return { mantissa, exponent, format };
}

function demote(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
