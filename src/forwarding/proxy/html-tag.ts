/** Reads a start tag of HTML. Source: HTML Standard, 13.2.5.8 to 13.2.5.40. */

/** The place of an attribute's value, without its quotes. */
export interface Link {
  readonly start: number;
  readonly end: number;
}

interface Attribute extends Link {
  /** In lower case. */
  readonly name: string;
}

/** A start tag. */
export interface Tag {
  /** In lower case. */
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** The index after its `>`. */
  readonly end: number;
}

// Characters are bytes, so that `\s`, which includes U+00A0, would split other characters.
const namePattern = /[^ \t\n\f\r/>]+/y;
const keyPattern = /=?[^ \t\n\f\r/>=]*/y;
const gapPattern = /[ \t\n\f\r/]*/y;
const equalsPattern = /[ \t\n\f\r]*=[ \t\n\f\r]*/y;
const barePattern = /[^ \t\n\f\r>]*/y;

/**
 * @param start the index of its `<`, before a letter
 * @returns undefined when the tag does not end in the text
 */
export function readTag(text: string, start: number): Tag | undefined {
  const name = match(namePattern, text, start + 1);
  const attributes: Attribute[] = [];
  let at = start + 1 + name.length;
  for (;;) {
    at += match(gapPattern, text, at).length;
    if (at >= text.length) return undefined;
    if (text[at] === ">") return { name: name.toLowerCase(), attributes, end: at + 1 };
    const key = match(keyPattern, text, at);
    at += key.length;
    const equals = match(equalsPattern, text, at);
    at += equals.length;
    if (equals === "") continue;
    const quote = text[at];
    if (quote === undefined) return undefined;
    const isQuoted = quote === '"' || quote === "'";
    const from = isQuoted ? at + 1 : at;
    const to = isQuoted ? text.indexOf(quote, from) : from + match(barePattern, text, from).length;
    if (to < 0) return undefined;
    attributes.push({ name: key.toLowerCase(), start: from, end: to });
    at = isQuoted ? to + 1 : to;
  }
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** The attributes of each element whose values are URLs. */
const urlAttributes: ReadonlyMap<string, readonly string[]> = new Map([
  ["a", ["href"]],
  ["applet", ["codebase"]],
  ["area", ["href"]],
  ["audio", ["src"]],
  ["base", ["href"]],
  ["blockquote", ["cite"]],
  ["body", ["background"]],
  ["button", ["formaction"]],
  ["command", ["icon"]],
  ["del", ["cite"]],
  ["embed", ["src"]],
  ["form", ["action"]],
  ["frame", ["longdesc", "src"]],
  ["head", ["profile"]],
  ["html", ["manifest"]],
  ["iframe", ["longdesc", "src"]],
  ["img", ["longdesc", "src", "usemap"]],
  ["input", ["src", "usemap", "formaction"]],
  ["ins", ["cite"]],
  ["link", ["href"]],
  ["object", ["classid", "codebase", "data", "usemap"]],
  ["q", ["cite"]],
  ["script", ["src"]],
  ["source", ["src"]],
  ["video", ["poster", "src"]],
]);

/** The values of a tag that are URLs, in order. */
export function linksOfTag({ name, attributes }: Tag): readonly Link[] {
  const names = urlAttributes.get(name);
  return names === undefined ? [] : attributes.filter((attribute) => names.includes(attribute.name));
}
