/** JSON text of plain values as Go writes it: HTML-safe, bigint as digits, members in the order they have. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be escaped.
const special = /["\\<>&\u0000-\u001f\u2028\u2029\ud800-\udfff]/;
const htmlSpecial = /[<>&\u2028\u2029]/g;
/** What `JSON.stringify` makes of half a character, and Go makes U+FFFD. Also a backslash before such a text. */
const halfCharacter = /\\ud[89a-f]/;

const htmlEscapes: Readonly<Record<string, string>> = {
  "<": "\\u003c",
  ">": "\\u003e",
  "&": "\\u0026",
  "\u2028": "\\u2028",
  "\u2029": "\\u2029",
};

/** A string in quotes. */
export function encodeString(text: string): string {
  if (!special.test(text)) return `"${text}"`;
  return JSON.stringify(text.toWellFormed()).replace(htmlSpecial, (character) => htmlEscapes[character] as string);
}

/**
 * Any plain value, such as the body of a Status. Members that are undefined are left out.
 * @param value nested at most as deep as decoding keeps (`retainedDepthMax`)
 */
export function encodeAny(value: unknown): string {
  switch (typeof value) {
    case "string":
      return encodeString(value);
    case "number":
      return Number.isFinite(value) ? String(value) : "null";
    case "bigint":
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      return value === null ? "null" : (encodeByEngine(value) ?? encodeTree(value));
    default:
      return "null";
  }
}

/** By the engine, which is quicker. @returns undefined for what it writes otherwise */
function encodeByEngine(value: object): string | undefined {
  let text: string;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return undefined; // A bigint.
    throw error;
  }
  if (halfCharacter.test(text)) return undefined;
  return text.replace(htmlSpecial, (character) => htmlEscapes[character] as string);
}

function encodeTree(value: object): string {
  return Array.isArray(value) ? encodeList(value) : encodeMembers(value as Record<string, unknown>);
}

function encodeItem(value: unknown): string {
  return typeof value === "object" && value !== null ? encodeTree(value) : encodeAny(value);
}

function encodeList(list: readonly unknown[]): string {
  let text = "[";
  for (let index = 0; index < list.length; index++) text += (index === 0 ? "" : ",") + encodeItem(list[index]);
  return `${text}]`;
}

function encodeMembers(object: Record<string, unknown>): string {
  let text = "{";
  for (const key in object) {
    const value = object[key];
    if (value !== undefined) text += `${(text === "{" ? "" : ",") + encodeString(key)}:${encodeItem(value)}`;
  }
  return `${text}}`;
}

/** The same with the members of all objects sorted, as Go writes maps. */
export function encodeSorted(value: unknown): string {
  if (typeof value !== "object" || value === null) return encodeAny(value);
  if (Array.isArray(value)) return `[${value.map(encodeSorted).join(",")}]`;
  return `{${encodeSortedMembers(value as Record<string, unknown>, sortedKeys(value as Record<string, unknown>))}}`;
}

/** Some members of an object, without braces; those that are undefined are left out. */
export function encodeSortedMembers(object: Record<string, unknown>, keys: readonly string[]): string {
  let text = "";
  for (const key of keys) {
    const value = object[key];
    if (value !== undefined) text += `${(text === "" ? "" : ",") + encodeString(key)}:${encodeSorted(value)}`;
  }
  return text;
}

/** Keys in the order of their UTF-8 bytes, which is the order of code points. */
export function sortedKeys(object: Record<string, unknown>): string[] {
  const keys = Object.keys(object);
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] as string) > (keys[index] as string)) return sortKeys(keys);
  }
  return keys.some(hasHighUnit) ? sortKeys(keys) : keys;
}

function sortKeys(keys: string[]): string[] {
  return keys.some(hasHighUnit) ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys.sort();
}

/** Code units from U+D800 up do not sort as their code points do. */
function hasHighUnit(key: string): boolean {
  return /[\ud800-\uffff]/.test(key);
}
