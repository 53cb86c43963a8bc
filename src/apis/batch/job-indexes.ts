/** Lists of indexes of pods, such as `1,3-5,7`. Source: upstream's batch validation. */
import { quoteGo } from "../../lib/json/quote.ts";

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** @param completions how many indexes there are @returns how many the text has, or what is wrong with it */
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

/** @returns the first index found in both lists; what cannot be read counts in neither */
export function sharedIndex(a: string, b: string, completions: number): number | undefined {
  const [ours, theirs] = [intervalsOf(a, completions), intervalsOf(b, completions)];
  for (let i = 0, j = 0; i < ours.length && j < theirs.length; ) {
    const [one, other] = [ours[i] as Interval, theirs[j] as Interval];
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

/** Go's int64 ends there. */
const largest = 2 ** 63;

function parseIndex(text: string, completions: number): number | { readonly problem: string } {
  const index = /^\+?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (!(index < largest)) return { problem: `cannot convert string to integer for index: ${quoteGo(text)}` };
  return index >= completions ? { problem: `too large index: ${quoteGo(text)}` } : index;
}

const decreasing = (previous: number, current: number): string =>
  `non-increasing order, previous: ${previous}, current: ${current}`;
