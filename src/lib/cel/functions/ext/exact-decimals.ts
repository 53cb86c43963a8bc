/**
 * Exact decimal digits of doubles. Ties round to the even digit, as in Go. Source:
 * https://pkg.go.dev/strconv#FormatFloat.
 */

/** @returns `|value| * 10^places`, rounded. @param value finite */
function scaled(value: number, places: number): bigint {
  const { mantissa, exponent } = partsOf(Math.abs(value));
  const numerator = mantissa * (places > 0 ? 10n ** BigInt(places) : 1n) * (exponent > 0 ? 2n ** BigInt(exponent) : 1n);
  const denominator = (places < 0 ? 10n ** BigInt(-places) : 1n) * (exponent < 0 ? 2n ** BigInt(-exponent) : 1n);
  const [whole, rest] = [numerator / denominator, (numerator % denominator) * 2n];
  return rest > denominator || (rest === denominator && whole % 2n === 1n) ? whole + 1n : whole;
}

function partsOf(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const biased = Number(bits >> 52n);
  const fraction = bits & (2n ** 52n - 1n);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (2n ** 52n), exponent: biased - 1075 };
}

/** Returns the number of decimal places of the exact value. */
export function placesOf(value: number): number {
  let { mantissa, exponent } = partsOf(Math.abs(value));
  for (; exponent < 0 && mantissa % 2n === 0n && mantissa > 0n; exponent++) mantissa /= 2n;
  return Math.max(0, -exponent);
}

/** Formats without an exponent. @param places after the decimal point */
export function fixedDigits(value: number, places: number): string {
  const digits = String(scaled(value, places)).padStart(places + 1, "0");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const whole = digits.slice(0, digits.length - places);
  return `${sign}${whole}${places > 0 ? `.${digits.slice(digits.length - places)}` : ""}`;
}

/** Formats with an exponent and one digit before the decimal point. */
export function scientificDigits(
  value: number,
  places: number,
): { readonly mantissa: string; readonly exponent: number } {
  if (value === 0) return { mantissa: fixedDigits(value, places), exponent: 0 };
  let exponent = Number(value.toExponential().split("e")[1]);
  let digits = String(scaled(value, places - exponent));
  if (digits.length > places + 1) {
    exponent++;
    digits = digits.slice(0, -1);
  }
  return { mantissa: `${value < 0 ? "-" : ""}${digits[0]}${places > 0 ? `.${digits.slice(1)}` : ""}`, exponent };
}
