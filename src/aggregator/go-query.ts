/**
 * Queries as Go reads and writes them. Source: `ParseQuery` and `Values.Encode` in Go's
 * net/url/url.go.
 */

const unreserved = /^[A-Za-z0-9._~-]$/;

/**
 * Parses a query and encodes it again, sorted by key. Parameters with a semicolon or a malformed
 * escape are dropped.
 *
 * @param query without its question mark, as sent
 */
export function encodeQueryAgain(query: string): string {
  const values = new Map<string, string[]>();
  for (const parameter of query.split("&")) {
    if (parameter === "" || parameter.includes(";")) continue;
    const equals = parameter.indexOf("=");
    const key = decode(equals < 0 ? parameter : parameter.slice(0, equals));
    const value = decode(equals < 0 ? "" : parameter.slice(equals + 1));
    if (key === undefined || value === undefined) continue;
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  const keys = [...values.keys()].sort((a, b) => (a < b ? -1 : 1));
  return keys.flatMap((key) => (values.get(key) ?? []).map((value) => `${encode(key)}=${encode(value)}`)).join("&");
}

/** @returns a text with a character for each byte; undefined for a malformed escape */
function decode(text: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(text)) return undefined;
  return text
    .replaceAll("+", " ")
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function encode(bytes: string): string {
  return Array.from(bytes, (character) => {
    if (unreserved.test(character)) return character;
    if (character === " ") return "+";
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}
