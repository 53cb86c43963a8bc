/**
 * Functions of strings, with indices in code points. Source: cel-go, ext.Strings, versions 0 and 2,
 * with the costs of k8s.io/apiserver@v0.36.0/pkg/cel/library/cost.go
 */

import { trimGo } from "../../../json/trim-go.ts";
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { plus, type Range, times, timesFactor, uint64Max } from "../../cost/range.ts";
import type { CallToEstimate, FunctionDeclaration } from "../../declarations.ts";
import { type Library, library } from "../../library.ts";
import { type CelType, intType, listType, stringType } from "../../types.ts";
import { codePoints, sizeOf, TextList } from "../../values/containers.ts";
import { isNumber, rawNumber } from "../../values/equality.ts";
import { fail } from "../../values/failure.ts";
import { typeNameOf } from "../../values/type-names.ts";
import type { CelInt, CelList, Result } from "../../values/value.ts";
import { traversal, traversalFactor } from "../costs.ts";
import { declare, member, overload } from "../declare.ts";
import { elementwise, joinedSize, reading } from "../kubernetes/costs.ts";
import { formatStrings } from "./format-validator.ts";
import { stringFormat } from "./string-format.ts";

const outOfRange = (index: CelInt): Result => fail(`index out of range: ${index}`);

function charAt(text: string, index: CelInt): Result {
  const points = [...text];
  if (index < 0 || index > points.length) return outOfRange(index);
  return points[Number(index)] ?? "";
}

function indexOf(text: string, part: string, offset: CelInt = 0): Result {
  if (part === "") return offset;
  if (offset < 0) return outOfRange(offset);
  const skipped = unitsOf(text, Number(offset));
  const found = text.indexOf(part, skipped);
  return found < 0 || skipped >= text.length ? -1 : codePoints(text.slice(0, found));
}

function lastIndexOf(text: string, part: string): Result {
  const length = codePoints(text);
  if (part === "") return length;
  return text.length < part.length ? -1 : lastIndexUpTo(text, part, length - 1);
}

/**
 * @param offset the last index at which the part can start; past the end of the text, the result is
 *   -1
 */
function lastIndexUpTo(text: string, part: string, offset: CelInt): Result {
  if (part === "") return offset;
  if (offset < 0) return outOfRange(offset);
  if (offset >= codePoints(text)) return -1;
  const found = lastUnitOf(text, part, unitsOf(text, Number(offset)));
  return found < 0 ? -1 : codePoints(text.slice(0, found));
}

/**
 * V8 needs time proportional to the product of both lengths for `lastIndexOf`, but not for
 * `indexOf`. So long parts are searched in the reversed text.
 */
function lastUnitOf(text: string, part: string, from: number): number {
  if (part.length < longPart) return text.lastIndexOf(part, from);
  const before = text.slice(0, from + part.length);
  const found = reversedUnits(before).indexOf(reversedUnits(part));
  return found < 0 ? -1 : before.length - found - part.length;
}

const longPart = 100;

function reversedUnits(text: string): string {
  return Buffer.from(text, "utf16le").reverse().swap16().toString("utf16le");
}

/** Returns the length of the first code points in UTF-16 units, at most that of the text. */
function unitsOf(text: string, points: number): number {
  let at = 0;
  for (let left = points; left > 0 && at < text.length; left--) at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
  return at;
}

/** @param limit number of replacements; negative for all */
function replace(text: string, old: string, by: string, limit: CelInt): Result {
  const most = limit < 0 ? Number.POSITIVE_INFINITY : Number(limit);
  return joinLimited(old === "" ? ["", ...text, ""] : text.split(old), old, by, most);
}

/** Joins the first pieces with `by` and the others with `old`. */
function joinLimited(pieces: readonly string[], old: string, by: string, most: number): string {
  if (most >= pieces.length - 1) return pieces.join(by);
  return [...pieces.slice(0, most), pieces.slice(most).join(old)].join(by);
}

/** @param limit number of pieces, of which the last one holds the rest; negative for all */
function split(text: string, separator: string, limit: CelInt): Result {
  if (limit === 0) return new TextList([]);
  const pieces = separator === "" ? [...text] : text.split(separator);
  if (limit < 0 || pieces.length <= limit) return new TextList(pieces);
  const most = Number(limit);
  return new TextList([...pieces.slice(0, most - 1), pieces.slice(most - 1).join(separator)]);
}

function substring(text: string, start: CelInt, end: CelInt | undefined): Result {
  const length = codePoints(text);
  const stop = end ?? length;
  if (end !== undefined && start > end) return fail(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > length) return outOfRange(start);
  if (stop < 0 || stop > length) return outOfRange(stop);
  return text.slice(unitsOf(text, Number(start)), unitsOf(text, Number(stop)));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

function join(list: CelList, separator = ""): Result {
  const texts: string[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = list.at(at);
    if (typeof item !== "string")
      return fail(
        `join: invalid input: ${isNumber(item) ? rawNumber(item) : typeof item === "boolean" ? item : typeNameOf(item)}`,
      );
    texts.push(item);
  }
  return texts.join(separator);
}

/** The backslash is first: the texts after it contain it. */
const escapes: readonly (readonly [character: string, escaped: string])[] = [
  ["\\", "\\\\"],
  ["\x07", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ['"', '\\"'],
];

function quote(text: string): string {
  let quoted = text.toWellFormed();
  for (const [character, escaped] of escapes) quoted = quoted.replaceAll(character, escaped);
  return `"${quoted}"`;
}

const copied = reading(1, { keepsSize: true });

/**
 * The text is read and the result written. In the worst case, only shortest parts are replaced by
 * longest ones.
 */
const replacing: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: (args) => Math.ceil(sizeOf(args[0]) * 2 * traversalFactor),
  estimate: ({ target, args }) => {
    const size = sizeOrUnknown(target);
    return {
      cost: timesFactor(size, 2 * traversalFactor),
      resultSize: replacedSize(size, sizeOrUnknown(args[0]), sizeOrUnknown(args[1])),
    };
  },
};

function replacedSize(size: Range, old: Range, by: Range): Range {
  const longest = replacements(size.max, old.min, by.max <= old.min);
  const shortest = replacements(size.min, old.max, old.max <= by.min);
  const counts = { min: shortest.count, max: longest.count };
  return plus(times(counts, by), { min: shortest.kept, max: longest.kept });
}

/** @param old length of the replaced part; an empty part matches around every character */
function replacements(
  size: bigint,
  old: bigint,
  changesNothing: boolean,
): { readonly count: bigint; readonly kept: bigint } {
  if (old === 0n) return { count: size < uint64Max ? size + 1n : size, kept: size };
  if (changesNothing) return { count: 0n, kept: size };
  const count = Math.ceil(Number(size) / Number(old));
  return { count: count >= 2 ** 64 ? uint64Max : BigInt(count), kept: 0n };
}

const splitting: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: replacing.cost,
  estimate: (call) => {
    const size = sizeOrUnknown(call.target);
    return { cost: timesFactor(size, 2 * traversalFactor), resultSize: { min: 0n, max: piecesMax(call) ?? size.max } };
  },
};

/** Returns a literal limit as uint64: a negative one becomes very large, as in cel-go. */
function piecesMax({ args }: CallToEstimate): bigint | undefined {
  const limit = args[1]?.expr;
  if (limit?.kind !== "constant" || (typeof limit.value !== "number" && typeof limit.value !== "bigint"))
    return undefined;
  return BigInt.asUintN(64, BigInt(limit.value));
}

const joining: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: (_, result) => Math.ceil(sizeOf(result) * 2 * traversalFactor),
  estimate: (call) => {
    const resultSize = joinedSize(call);
    return { cost: timesFactor(resultSize, traversalFactor), resultSize };
  },
};

/** The maximum wraps around at 2^64, as in Kubernetes. */
const quoting = traversal(0, 0, (min, max) => ({ min: min + 2n, max: BigInt.asUintN(64, max * 2n + 2n) }));

const texts = (count: number): CelType[] => Array.from({ length: count }, () => stringType);
const list = listType(stringType);

const basic: readonly FunctionDeclaration[] = [
  declare("charAt", member("string_char_at_int", [stringType, intType], stringType, { evaluate: charAt })),
  {
    ...declare(
      "indexOf",
      member("string_index_of_string", texts(2), intType, {
        evaluate: (text: string, part: string) => indexOf(text, part),
      }),
      member("string_index_of_string_int", [...texts(2), intType], intType, { evaluate: indexOf }),
    ),
    ...elementwise,
  },
  {
    ...declare(
      "lastIndexOf",
      member("string_last_index_of_string", texts(2), intType, { evaluate: lastIndexOf }),
      member("string_last_index_of_string_int", [...texts(2), intType], intType, { evaluate: lastIndexUpTo }),
    ),
    ...elementwise,
  },
  { ...declare("lowerAscii", member("string_lower_ascii", texts(1), stringType, { evaluate: lowerAscii })), ...copied },
  { ...declare("upperAscii", member("string_upper_ascii", texts(1), stringType, { evaluate: upperAscii })), ...copied },
  { ...declare("trim", member("string_trim", texts(1), stringType, { evaluate: trimGo })), ...copied },
  {
    ...declare(
      "substring",
      member("string_substring_int", [stringType, intType], stringType, {
        evaluate: (text: string, start: CelInt) => substring(text, start, undefined),
      }),
      member("string_substring_int_int", [stringType, intType, intType], stringType, { evaluate: substring }),
    ),
    ...copied,
  },
  {
    ...declare(
      "replace",
      member("string_replace_string_string", texts(3), stringType, {
        evaluate: (text: string, old: string, by: string) => replace(text, old, by, -1),
      }),
      member("string_replace_string_string_int", [...texts(3), intType], stringType, { evaluate: replace }),
    ),
    ...replacing,
  },
  {
    ...declare(
      "split",
      member("string_split_string", texts(2), list, {
        evaluate: (text: string, separator: string) => split(text, separator, -1),
      }),
      member("string_split_string_int", [...texts(2), intType], list, { evaluate: split }),
    ),
    ...splitting,
  },
  {
    ...declare(
      "join",
      member("list_join", [list], stringType, { evaluate: (items: CelList) => join(items) }),
      member("list_join_string", [list, stringType], stringType, { evaluate: join }),
    ),
    ...joining,
  },
];

/** Version 0 of the functions. */
export const basicStrings: Library = library({ functions: basic });

/** Version 2 of the functions: adds `format` and `strings.quote`. */
export const extendedStrings: Library = library({
  validators: [formatStrings],
  functions: [
    ...basic,
    stringFormat,
    declare("strings.quote", overload("strings_quote", texts(1), stringType, { evaluate: quote, ...quoting })),
  ],
});
