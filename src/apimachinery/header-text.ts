/** What stands in a header, whose bytes Node gives as Latin-1, as Go takes it: UTF-8. */
export function headerText(value: string): string {
  for (let at = 0; at < value.length; at++) {
    if (value.charCodeAt(at) > 0x7f) return Buffer.from(value, "latin1").toString();
  }
  return value;
}

/** A key that is part of a header's name, percent-encoded as Go's PathUnescape reads it. What is no percent-encoding stays as it is. */
export function headerKey(encoded: string): string {
  if (!encoded.includes("%") || /%(?![0-9a-f]{2})/i.test(encoded)) return encoded;
  return headerText(encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))));
}
