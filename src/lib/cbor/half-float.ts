/** Floating-point numbers of 16 bits. Source: IEEE 754; RFC 8949, appendix D. */

const view = new DataView(new ArrayBuffer(4));

/**
 * Encodes a number as a 16-bit float.
 * @param value a number that a float32 represents exactly
 * @returns undefined when 16 bits cannot represent it exactly
 */
export function halfBits(value: number): number | undefined {
  view.setFloat32(0, value);
  const bits = view.getUint32(0);
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const fraction = bits & 0x7fffff;
  if (exponent === 0) return fraction === 0 ? sign : undefined;
  const scaled = exponent - 127 + 15;
  if (scaled >= 31) return undefined;
  if (scaled > 0) return (fraction & 0x1fff) === 0 ? sign | (scaled << 10) | (fraction >>> 13) : undefined;
  const shift = 14 - scaled; // Subnormal numbers have an explicit leading bit.
  if (shift > 24) return undefined;
  const whole = fraction | 0x800000;
  return (whole & ((1 << shift) - 1)) === 0 ? sign | (whole >>> shift) : undefined;
}

/** Decodes the bits of a 16-bit float. */
export function halfValue(bits: number): number {
  const exponent = (bits >>> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (fraction + 1024) * 2 ** (exponent - 25));
}
