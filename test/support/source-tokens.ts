/**
 * Splits TypeScript, JavaScript and Go into comments, texts and identifiers, for the tests that
 * check the sources themselves.
 */

export interface SourceToken {
  /** `string`: a string, or a part of a template without its `${…}`. */
  readonly type: "comment" | "string" | "identifier" | "other";
  readonly text: string;
  readonly line: number;
}

const lexemes = {
  comment: String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`,
  string: String.raw`"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'`,
  identifier: String.raw`[#]?[\p{ID_Start}$_][\p{ID_Continue}$]*`,
  number: String.raw`\d[\w.]*`,
  other: String.raw`[^\s]`,
};
const lexeme = new RegExp(
  Object.entries(lexemes)
    .map(([name, pattern]) => `(?<${name}>${pattern})`)
    .join("|"),
  "gu",
);
const regularExpression = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const templateText = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const rawText = /[^`]*/y;

/** Keywords after which `/` begins a regular expression. */
const beforeExpression = new Set(["return", "typeof", "case", "of", "in", "await", "yield", "else", "void"]);

/** @param language Go has raw texts without `${…}`, and no regular expressions */
export function sourceTokens(source: string, language: "typescript" | "go" = "typescript"): SourceToken[] {
  const tokens: SourceToken[] = [];
  /** For each open template, the braces that are open in its current `${…}`. */
  const templates: number[] = [];
  let line = 1;
  let countedTo = 0;
  const push = (type: SourceToken["type"], text: string, at: number): void => {
    for (; countedTo < at; countedTo++) if (source[countedTo] === "\n") line++;
    tokens.push({ type, text, line });
  };
  /** @returns the position behind a part of a template that begins at `at` */
  const readTemplate = (at: number): number => {
    const pattern = language === "go" ? rawText : templateText;
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0] ?? "";
    push("string", text, at);
    const end = at + text.length;
    if (source[end] === "`") return end + 1;
    templates.push(0);
    return end + 2;
  };

  let at = 0;
  while (at < source.length) {
    lexeme.lastIndex = at;
    const match = lexeme.exec(source);
    if (match === null) break;
    at = match.index;
    const [text] = match;
    const { comment, string, identifier } = match.groups as Record<string, string | undefined>;
    if (comment === undefined && text === "/" && language === "typescript" && expectsExpression(tokens)) {
      regularExpression.lastIndex = at;
      const expression = regularExpression.exec(source)?.[0] ?? text;
      push("other", expression, at);
      at += expression.length;
      continue;
    }
    const type = comment ? "comment" : string ? "string" : identifier ? "identifier" : "other";
    if (text === "`") {
      at = readTemplate(at + 1);
      continue;
    }
    if (templates.length > 0 && text === "{") templates.push((templates.pop() as number) + 1);
    if (templates.length > 0 && text === "}") {
      const open = templates.pop() as number;
      if (open === 0) {
        at = readTemplate(at + 1);
        continue;
      }
      templates.push(open - 1);
    }
    push(type, text, at);
    at += text.length;
  }
  return tokens;
}

function expectsExpression(tokens: readonly SourceToken[]): boolean {
  const last = tokens.findLast(({ type }) => type !== "comment");
  if (last === undefined) return true;
  if (last.type === "identifier") return beforeExpression.has(last.text);
  return last.type === "other" && !/^[)\]}\w/]/.test(last.text);
}
