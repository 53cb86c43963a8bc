/** Text in quotes as Go prints it with %q, which is how upstream's messages show values. */

const short = new Map([
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/** What Go does not print as it is: quotes, backslashes, and all that is neither a graphic character nor the plain space. */
const special = /["\\]|[^\P{C}]|[^\P{Z} ]/gu;

function escapeCharacter(character: string): string {
  const known = short.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) as number;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd"; // Half a pair is no UTF-8; Go never sees it.
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** `a"b` becomes `"a\"b"`. */
export function goQuote(text: string): string {
  return `"${text.replace(special, escapeCharacter)}"`;
}
