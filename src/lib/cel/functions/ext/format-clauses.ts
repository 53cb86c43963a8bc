/** What format strings say: texts, and clauses such as `%.3f` that take an argument each. Source: cel-go's ext/formatting.go */
import { quoteGo } from "../../../json/quote.ts";

export type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

export interface Clause {
  readonly verb: Verb;
  readonly precision: number;
}

/** A text, a clause, why it is no clause, or that the text ends after a percent sign. */
export type Piece = string | { readonly clause: Clause } | { readonly wrong: string } | { readonly ends: true };

const precisionDefault = 6;

/** @returns pieces up to the first that is wrong */
export function piecesOf(format: string): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < format.length; ) {
    const percent = format.indexOf("%", at);
    if (percent !== at) {
      pieces.push(format.slice(at, percent < 0 ? format.length : percent));
      at = percent < 0 ? format.length : percent;
    } else if (format[at + 1] === "%") {
      pieces.push("%");
      at += 2;
    } else {
      const { piece, length } = clauseAt(format.slice(at + 1));
      pieces.push(piece);
      if (!("clause" in piece)) break;
      at += 1 + length;
    }
  }
  return pieces;
}

type ClausePiece = Exclude<Piece, string>;

/** @param rest what follows the percent sign */
function clauseAt(rest: string): { readonly piece: ClausePiece; readonly length: number } {
  if (rest === "") return { piece: { ends: true }, length: 0 };
  const [whole, digits] = /^(?:\.([0-9]*))?/.exec(rest) as RegExpExecArray;
  const wrong = (why: string) => ({ piece: { wrong: `could not parse formatting clause: ${why}` }, length: 0 });
  if (whole.length === rest.length)
    return wrong("error while parsing precision: could not find end of precision specifier");
  const badNumber = digits === undefined ? undefined : whyNoNumber(digits);
  if (badNumber !== undefined)
    return wrong(`error while parsing precision: error while converting precision to integer: ${badNumber}`);
  const verb = rest[whole.length] as string;
  if (!"sdfebxXo".includes(verb))
    return wrong(`unrecognized formatting clause "${firstByteOf(rest.slice(whole.length))}"`);
  const precision = digits === undefined ? precisionDefault : Number(digits);
  return { piece: { clause: { verb: verb as Verb, precision } }, length: whole.length + 1 };
}

function whyNoNumber(digits: string): string | undefined {
  if (digits === "") return 'strconv.Atoi: parsing "": invalid syntax';
  const isTooLarge = digits.replace(/^0+/, "").length > 19 || BigInt(digits) >= 2n ** 63n;
  return isTooLarge ? `strconv.Atoi: parsing ${quoteGo(digits)}: value out of range` : undefined;
}

/** Upstream looks at bytes. */
function firstByteOf(text: string): string {
  return String.fromCharCode(Buffer.from(text.slice(0, 2))[0] as number);
}

export const notFormattable: Readonly<Record<Verb, (type: string) => string>> = {
  s: (type) =>
    `string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${type}`,
  d: (type) => `decimal clause can only be used on integers, was given ${type}`,
  f: (type) => `fixed-point clause can only be used on doubles, was given ${type}`,
  e: (type) => `scientific clause can only be used on doubles, was given ${type}`,
  b: (type) => `only integers and bools can be formatted as binary, was given ${type}`,
  x: (type) => `only integers, byte buffers, and strings can be formatted as hex, was given ${type}`,
  X: (type) => `only integers, byte buffers, and strings can be formatted as hex, was given ${type}`,
  o: (type) => `octal clause can only be used on integers, was given ${type}`,
};
