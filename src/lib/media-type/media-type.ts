/**
 * Parses the media type of a body.
 * @param header the Content-Type
 * @returns the media type without parameters, in lower case; undefined when the header is
 *   malformed, also in a parameter. Source: Go's mime.ParseMediaType, without the continuations of
 *   RFC 2231.
 */
export function parseMediaType(header: string): string | undefined {
  const semicolon = header.indexOf(";");
  const type = (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
  if (!typeText.test(type)) return undefined;
  return semicolon < 0 || areParameters(header.slice(semicolon)) ? type : undefined;
}

const token = "[!#$%&'*+\\-.^_`{|}~0-9A-Za-z]+";
const typeText = new RegExp(`^${token}(?:/${token})?$`);
const parameter = new RegExp(`\\s*;\\s*(${token})\\s*=\\s*(?:${token}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`, "y");

/** @param text from the first semicolon on; one more at the end is accepted */
function areParameters(text: string): boolean {
  const names = new Set<string>();
  let at = 0;
  for (;;) {
    parameter.lastIndex = at;
    const found = parameter.exec(text);
    if (found === null) return ["", ";"].includes(text.slice(at).trim());
    const name = (found[1] as string).toLowerCase();
    if (names.has(name)) return false;
    names.add(name);
    at = parameter.lastIndex;
  }
}
