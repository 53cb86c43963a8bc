/**
 * Evaluates templates. Source: k8s.io/client-go@v0.36.0/util/jsonpath, with missing keys allowed
 */
import { compareValues } from "./compare.ts";
import { NumberLiteral, TextByte } from "./go-kinds.ts";
import type { Part, Path, Slice, Step } from "./template.ts";

/** The template does not fit the value. */
export class JsonPathError extends Error {
  /** The values found before the error. */
  readonly values: readonly unknown[];

  constructor(message: string, values: readonly unknown[]) {
    super(message);
    this.values = values;
  }
}

/** Limits intermediate results, because nested descents can multiply them. */
const valuesMax = 100_000;

/** Limits ranges inside ranges, which are evaluated recursively. */
const rangesMax = 100;

interface Walk {
  /** Ranges that the current part opened. */
  opened: number;
  /** Ranges that the current part ended. */
  ended: number;
  /** Open ranges. */
  depth: number;
  /** Index of the part that ended the last range. */
  lastEnd: number;
}

/**
 * Evaluates a template.
 *
 * @returns the values of each part, with ranges unrolled
 * @throws JsonPathError
 */
export function findResults(parts: readonly Part[], value: unknown): unknown[][] {
  return findFrom(parts, 0, [value], { opened: 0, ended: 0, depth: 0, lastEnd: -1 });
}

function findFrom(parts: readonly Part[], start: number, input: readonly unknown[], walk: Walk): unknown[][] {
  const found: unknown[][] = [];
  for (let index = start; index < parts.length; index++) {
    const part = parts[index] as Part;
    const results = "text" in part ? [part.text] : follow(input, part.path, walk);
    if (walk.ended > 0 && walk.ended <= walk.depth) {
      walk.ended--;
      walk.lastEnd = index;
      break;
    }
    if (walk.opened === 0) {
      found.push([...results]);
      bounded(found);
      continue;
    }
    walk.opened--;
    walk.depth++;
    if (walk.depth > rangesMax) throw new JsonPathError(`more than ${rangesMax} ranges inside each other`, []);
    for (const value of results) found.push(...findFrom(parts, index + 1, [value], walk));
    if (results.length === 0) findFrom(parts, index + 1, [], walk); // Finds the end of an empty range.
    walk.depth--;
    if (walk.lastEnd > index) index = walk.lastEnd;
  }
  return found;
}

function follow(input: readonly unknown[], path: Path, walk: Walk): readonly unknown[] {
  let values = input;
  for (const step of path) values = bounded(take(values, step, walk));
  return values;
}

function bounded(values: readonly unknown[]): readonly unknown[] {
  if (values.length > valuesMax) throw new JsonPathError(`more than ${valuesMax} values`, []);
  return values;
}

function take(input: readonly unknown[], step: Step, walk: Walk): readonly unknown[] {
  switch (step.kind) {
    case "field":
      return input.flatMap((value) => (isMap(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : []));
    case "slice":
      return sliceAll(input, step.slice);
    case "filter":
      return input.flatMap((value) => filtered(input, value, step, walk));
    case "union":
      return unionOf(input, step.paths, walk);
    case "wildcard":
      return input.flatMap(childrenOf);
    case "descent":
      return descendants(input);
    case "literal":
      return input.map(() =>
        typeof step.value === "number" ? new NumberLiteral(step.value, step.isFloat) : step.value,
      );
    case "word":
      return wordAt(input, step.word, walk);
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof TextByte) &&
    !(value instanceof NumberLiteral)
  );
}

function wordAt(input: readonly unknown[], word: string, walk: Walk): readonly unknown[] {
  if (word === "range") {
    walk.opened++;
    return input;
  }
  if (word !== "end") throw new JsonPathError(`unrecognized identifier ${word}`, input);
  if (walk.depth === 0) throw new JsonPathError("not in range, nothing to end", []);
  walk.ended++;
  return [];
}

/** As in client-go, a list in which the slice is empty ends the evaluation of the step. */
function sliceAll(input: readonly unknown[], slice: Slice): readonly unknown[] {
  const taken: unknown[] = [];
  for (const value of input) {
    if (value === null) continue;
    if (!Array.isArray(value)) throw new JsonPathError("not an array or slice", input);
    const { length } = value;
    const from = slice.from < 0 ? slice.from + length : slice.from;
    const to = endOf(slice, length);
    if (from === to) return taken;
    if (from >= length || from < 0)
      throw new JsonPathError(`array index out of bounds: index ${from}, length ${length}`, input);
    if (to > length || to < 0)
      throw new JsonPathError(`array index out of bounds: index ${to - 1}, length ${length}`, input);
    if (from > to) throw new JsonPathError(`starting index ${from} is greater than ending index ${to}`, input);
    const { step = 1 } = slice;
    if (step <= 0) throw new JsonPathError("step must be > 0", input);
    for (let index = from; index < to; index += step) taken.push(value[index]);
  }
  return taken;
}

function endOf({ from, to, isIndex }: Slice, length: number): number {
  if (isIndex) return from + 1 <= 0 ? from + 1 + length : from + 1;
  if (to === undefined) return length;
  return to < 0 ? to + length : to;
}

function unionOf(input: readonly unknown[], paths: readonly Path[], walk: Walk): readonly unknown[] {
  try {
    return paths.flatMap((path) => follow(input, path, walk));
  } catch (error) {
    throw error instanceof JsonPathError ? new JsonPathError(error.message, input) : error;
  }
}

function childrenOf(value: unknown): readonly unknown[] {
  if (typeof value === "string") return [...Buffer.from(value)].map((byte) => new TextByte(byte));
  if (Array.isArray(value)) return value;
  return isMap(value)
    ? Object.keys(value)
        .sort()
        .map((key) => value[key])
    : [];
}

/** Returns all values that are not empty, parents before children. */
function descendants(input: readonly unknown[]): readonly unknown[] {
  const found: unknown[] = [];
  const visit = (value: unknown): void => {
    const isText = typeof value === "string";
    const children = isText ? [] : childrenOf(value);
    if (isText ? value !== "" : children.length > 0) found.push(value);
    bounded(found);
    for (const child of children) visit(child);
  };
  for (const value of input) visit(value);
  return found;
}

function filtered(
  input: readonly unknown[],
  value: unknown,
  step: Step & { kind: "filter" },
  walk: Walk,
): readonly unknown[] {
  if (!Array.isArray(value)) throw new JsonPathError("not an array or slice and cannot be filtered", input);
  if (step.operator === "exists") return value.filter((item) => reaches(item, step.left, walk));
  const one = (item: unknown, path: Path): readonly unknown[] => {
    const values = follow([item], path, walk);
    if (values.length > 1) throw new JsonPathError("can only compare one element at a time", input);
    return values;
  };
  return value.filter((item) => {
    const left = one(item, step.left);
    if (left.length === 0) return false;
    const right = one(item, step.right);
    if (right.length === 0) return false;
    const passes = compareValues(left[0], step.operator, right[0]);
    if (passes === undefined) throw new JsonPathError(`cannot be compared with ${step.operator}`, []);
    return passes;
  });
}

/** Whether a path finds a value; an error after a found value counts too. */
function reaches(item: unknown, path: Path, walk: Walk): boolean {
  try {
    return follow([item], path, walk).length > 0;
  } catch (error) {
    if (error instanceof JsonPathError) return error.values.length > 0;
    throw error;
  }
}
