/**
 * Returns the lines of a repeated header, in order.
 *
 * @param rawHeaders names, in any case, and values alternately
 * @param name lower-case
 */
export function headerLines(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** Decodes a header value as UTF-8, as Go does. Node decodes the bytes as Latin-1. */
export function headerText(value: string): string {
  for (let at = 0; at < value.length; at++) {
    if (value.charCodeAt(at) > 0x7f) return Buffer.from(value, "latin1").toString();
  }
  return value;
}

/**
 * Decodes the percent-encoded part of a header name as Go's `PathUnescape` does. Text with an
 * invalid percent-encoding is returned unchanged.
 */
export function headerKey(encoded: string): string {
  if (!encoded.includes("%") || /%(?![0-9a-f]{2})/i.test(encoded)) return encoded;
  return headerText(encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
}
