/** Format strings: text, and clauses such as `%.3f`. Source: cel-go, ext/formatting.go */
import { quoteGo } from "../../../json/quote.ts";

/** The conversion of a clause, such as `d` in `%d`. */
export type Verb = "s" | "d" | "f" | "e" | "b" | "x" | "X" | "o";

/** A clause, which formats one argument. */
export interface Clause {
  readonly verb: Verb;
  readonly precision: number;
}

/** Text, a clause, an invalid clause with its error, or a percent sign at the end of the string. */
export type Piece = string | { readonly clause: Clause } | { readonly error: string } | { readonly ends: true };

const precisionDefault = 6;

/** Parses a format string. @returns the pieces up to the first invalid clause */
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
  const invalid = (why: string) => ({ piece: { error: `could not parse formatting clause: ${why}` }, length: 0 });
  if (whole.length === rest.length)
    return invalid("error while parsing precision: could not find end of precision specifier");
  const numberError = digits === undefined ? undefined : findNumberError(digits);
  if (numberError !== undefined)
    return invalid(`error while parsing precision: error while converting precision to integer: ${numberError}`);
  const verb = rest[whole.length] as string;
  if (!"sdfebxXo".includes(verb))
    return invalid(`unrecognized formatting clause "${firstByteOf(rest.slice(whole.length))}"`);
  const precision = digits === undefined ? precisionDefault : Number(digits);
  return { piece: { clause: { verb: verb as Verb, precision } }, length: whole.length + 1 };
}

function findNumberError(digits: string): string | undefined {
  if (digits === "") return 'strconv.Atoi: parsing "": invalid syntax';
  const isTooLarge = digits.replace(/^0+/, "").length > 19 || BigInt(digits) >= 2n ** 63n;
  return isTooLarge ? `strconv.Atoi: parsing ${quoteGo(digits)}: value out of range` : undefined;
}

/** cel-go reads the format string as bytes. */
function firstByteOf(text: string): string {
  return String.fromCharCode(Buffer.from(text.slice(0, 2))[0] as number);
}

/** The error messages for arguments of a type that the clause cannot format. */
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
