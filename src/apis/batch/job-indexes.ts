/**
 * Lists of pod indexes, such as `1,3-5,7`.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/batch/validation/validation.go
 */
import { quoteGo } from "../../lib/json/quote.ts";

interface Interval {
  readonly first: number;
  readonly last: number;
}

/**
 * @param completions the number of indexes of the job
 * @returns the number of indexes in the text, or upstream's message if it is invalid
 */
export function countIndexes(text: string, completions: number): number | { readonly problem: string } {
  if (text === "") return 0;
  let total = 0;
  let previous = -1;
  for (const part of text.split(",")) {
    const interval = parseInterval(part, completions);
    if ("problem" in interval) return interval;
    if (previous >= interval.first) return { problem: decreasing(previous, interval.first) };
    total += interval.last - interval.first + 1;
    previous = interval.last;
  }
  return total;
}

/** @returns the first index that is in both lists; parts that cannot be parsed are ignored */
export function sharedIndex(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [intervalsOf(a, completions), intervalsOf(b, completions)];
  for (let i = 0, j = 0; i < left.length && j < right.length; ) {
    const [one, other] = [left[i] as Interval, right[j] as Interval];
    if (one.first <= other.last && other.first <= one.last) return Math.max(one.first, other.first);
    if (one.first <= other.first) i++;
    else j++;
  }
  return undefined;
}

const intervalsOf = (text: string, completions: number): Interval[] =>
  text.split(",").flatMap((part) => {
    const interval = parseInterval(part, completions);
    return "problem" in interval ? [] : [interval];
  });

function parseInterval(text: string, completions: number): Interval | { readonly problem: string } {
  const parts = text.split("-");
  if (parts.length > 2) {
    return {
      problem: `the fragment ${quoteGo(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    };
  }
  const [first, last = first] = parts.map((part) => parseIndex(part, completions));
  if (typeof first !== "number") return first as { problem: string };
  if (typeof last !== "number") return last as { problem: string };
  return parts.length === 2 && first >= last ? { problem: decreasing(first, last) } : { first, last };
}

/** The first number above Go's int64. */
const int64End = 2 ** 63;

function parseIndex(text: string, completions: number): number | { readonly problem: string } {
  const index = /^\+?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!(index < int64End)) return { problem: `cannot convert string to integer for index: ${quoteGo(text)}` };
  return index >= completions ? { problem: `too large index: ${quoteGo(text)}` } : index;
}

const decreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;
