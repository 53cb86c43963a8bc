/**
 * Unified diffs of lines and of JSON values, by the algorithm of Python's difflib: it keeps the
 * first of the longest runs of equal lines, and repeats this on both sides. In long texts, frequent
 * lines do not begin a run.
 * Source: https://docs.python.org/3/library/difflib.html.
 */
import { encodeAny } from "../json/encode-any.ts";

interface Match {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

type Tag = "equal" | "changed";

/** Corresponding ranges of both texts. */
interface Piece {
  readonly tag: Tag;
  readonly a: readonly [from: number, to: number];
  readonly b: readonly [from: number, to: number];
}

const context = 3;
/** From this number of lines on, frequent lines are ignored. */
const longLines = 200;
/** Comparisons of lines. Texts that need more are shown whole; upstream would take minutes. */
const stepsMax = 4_000_000;

/**
 * Compares lines. Returns the hunks, with a newline after each line; empty without a difference.
 */
export function unifiedDiff(before: readonly string[], after: readonly string[]): string {
  return hunksOf(piecesOf(matchesOf(before, after), before.length, after.length))
    .map((hunk) => formatHunk(hunk, before, after))
    .join("");
}

/**
 * Compares two values as JSON text with one member or item per line, indented by one space per
 * level.
 */
export function jsonDiff(before: unknown, after: unknown): string {
  return unifiedDiff(linesOf(before), linesOf(after));
}

function linesOf(value: unknown): string[] {
  const lines: string[] = [];
  addLines(value, "", "", lines);
  return lines;
}

/**
 * @param value only as deep as types are nested
 * @param start the text before it in its line
 */
function addLines(value: unknown, margin: string, start: string, lines: string[], end = ""): void {
  const isList = Array.isArray(value);
  if (!isList && (typeof value !== "object" || value === null))
    return void lines.push(`${margin}${start}${encodeAny(value)}${end}`);
  const members: [start: string, value: unknown][] = isList
    ? value.map((item) => ["", item])
    : Object.entries(value).map(([key, member]) => [`${encodeAny(key)}: `, member]);
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  if (members.length === 0) return void lines.push(`${margin}${start}${open}${close}${end}`);
  lines.push(`${margin}${start}${open}`);
  for (const [index, [label, member]] of members.entries())
    addLines(member, `${margin} `, label, lines, index < members.length - 1 ? "," : "");
  lines.push(`${margin}${close}${end}`);
}

function matchesOf(before: readonly string[], after: readonly string[]): Match[] {
  const places = placesOf(after);
  const budget = { steps: stepsMax };
  const found: Match[] = [];
  const open: [fromA: number, toA: number, fromB: number, toB: number][] = [[0, before.length, 0, after.length]];
  for (let range = open.pop(); range !== undefined; range = open.pop()) {
    const [fromA, toA, fromB, toB] = range;
    const { a, b, size } = longestMatch(before, after, range, places, budget);
    if (budget.steps < 0) return [];
    if (size === 0) continue;
    found.push({ a, b, size });
    if (fromA < a && fromB < b) open.push([fromA, a, fromB, b]);
    if (a + size < toA && b + size < toB) open.push([a + size, toA, b + size, toB]);
  }
  return joined(found.sort((left, right) => left.a - right.a));
}

/** The indexes of each line, without lines that are too frequent. */
function placesOf(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const places = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const indexes = places.get(line);
    if (indexes === undefined) places.set(line, [index]);
    else indexes.push(index);
  }
  if (lines.length < longLines) return places;
  const countMax = Math.floor(lines.length / 100) + 1;
  for (const [line, at] of places) if (at.length > countMax) places.delete(line);
  return places;
}

/** Finds the first of the longest runs. Frequent lines only extend it. */
function longestMatch(
  before: readonly string[],
  after: readonly string[],
  [fromA, toA, fromB, toB]: readonly [number, number, number, number],
  places: ReadonlyMap<string, readonly number[]>,
  budget: { steps: number },
): Match {
  let best = { a: fromA, b: fromB, size: 0 };
  /** The length of the run that ends at the previous line, by index in `after`. */
  let lengths = new Map<number, number>();
  for (let a = fromA; a < toA; a++) {
    const next = new Map<number, number>();
    for (const b of places.get(before[a] as string) ?? []) {
      if (--budget.steps < 0) return best;
      if (b < fromB) continue;
      if (b >= toB) break;
      const size = (lengths.get(b - 1) ?? 0) + 1;
      next.set(b, size);
      if (size > best.size) best = { a: a - size + 1, b: b - size + 1, size };
    }
    lengths = next;
  }
  let { a, b, size } = best;
  for (; a > fromA && b > fromB && before[a - 1] === after[b - 1]; size++) {
    a--;
    b--;
  }
  while (a + size < toA && b + size < toB && before[a + size] === after[b + size]) size++;
  return { a, b, size };
}

/** Joins adjacent runs. */
function joined(matches: readonly Match[]): Match[] {
  const out: Match[] = [];
  for (const match of matches) {
    const last = out.at(-1);
    if (last !== undefined && last.a + last.size === match.a && last.b + last.size === match.b) {
      out[out.length - 1] = { ...last, size: last.size + match.size };
    } else out.push(match);
  }
  return out;
}

function piecesOf(matches: readonly Match[], linesA: number, linesB: number): Piece[] {
  const pieces: Piece[] = [];
  let atA = 0;
  let atB = 0;
  for (const { a, b, size } of [...matches, { a: linesA, b: linesB, size: 0 }]) {
    if (atA < a || atB < b) pieces.push({ tag: "changed", a: [atA, a], b: [atB, b] });
    if (size > 0) pieces.push({ tag: "equal", a: [a, a + size], b: [b, b + size] });
    atA = a + size;
    atB = b + size;
  }
  return pieces;
}

/** Groups changes with the lines around them; changes that share such lines form one hunk. */
function hunksOf(pieces: readonly Piece[]): Piece[][] {
  const hunks: Piece[][] = [];
  let hunk: Piece[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.tag === "changed") {
      hunk.push(piece);
      continue;
    }
    const isFirst = index === 0;
    const isLast = index === pieces.length - 1;
    const size = piece.a[1] - piece.a[0];
    if (!isFirst && !isLast && size <= 2 * context) {
      hunk.push(piece);
      continue;
    }
    if (!isFirst) {
      hunks.push([...hunk, headOf(piece)]);
      hunk = [];
    }
    if (!isLast) hunk.push(tailOf(piece));
  }
  if (hunk.some(({ tag }) => tag === "changed")) hunks.push(hunk);
  return hunks;
}

const headOf = ({ tag, a, b }: Piece): Piece => ({
  tag,
  a: [a[0], Math.min(a[1], a[0] + context)],
  b: [b[0], Math.min(b[1], b[0] + context)],
});
const tailOf = ({ tag, a, b }: Piece): Piece => ({
  tag,
  a: [Math.max(a[0], a[1] - context), a[1]],
  b: [Math.max(b[0], b[1] - context), b[1]],
});

function formatHunk(hunk: readonly Piece[], before: readonly string[], after: readonly string[]): string {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return "";
  const lines = [`@@ -${formatSpan(first.a[0], last.a[1])} +${formatSpan(first.b[0], last.b[1])} @@\n`];
  for (const { tag, a, b } of hunk) {
    for (const line of before.slice(...a)) lines.push(`${tag === "equal" ? " " : "-"}${line}\n`);
    if (tag === "changed") for (const line of after.slice(...b)) lines.push(`+${line}\n`);
  }
  return lines.join("");
}

/** Formats a range of lines, counted from 1; an empty range names the line before it. */
function formatSpan(from: number, to: number): string {
  const length = to - from;
  if (length === 1) return String(from + 1);
  return `${length === 0 ? from : from + 1},${length}`;
}
