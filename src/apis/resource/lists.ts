/**
 * Validates lists and maps of limited length. The items of longer ones are not validated.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { byName } from "../label-selector.ts";

type Check<Item> = (item: Item, path: string) => void;

/** @returns false if the list is too long, so that its items were not validated */
export function validateList<Item>(
  list: readonly Item[],
  max: number,
  check: Check<Item>,
  path: string,
  errors: FieldErrors,
): boolean {
  if (list.length > max) {
    errors.tooMany(path, list.length, max);
    return false;
  }
  for (const [index, item] of list.entries()) check(item, `${path}[${index}]`);
  return true;
}

interface SetRules<Item> {
  readonly max: number;
  readonly check: Check<Item>;
  /** Items with the same key are duplicates. */
  key(item: Item): unknown;
  /** Which checks declarative rules make too. */
  readonly covered?: readonly ("size" | "uniqueness")[];
}

export function validateSet<Item>(
  list: readonly Item[],
  { max, check, key, covered = [] }: SetRules<Item>,
  path: string,
  errors: FieldErrors,
): void {
  if (!validateList(list, max, check, path, covered.includes("size") ? errors.covered("maxItems") : errors)) return;
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const own = key(item);
    const text = typeof own === "string" ? own : JSON.stringify(own);
    if (seen.has(text))
      (covered.includes("uniqueness") ? errors.covered() : errors).duplicate(`${path}[${index}]`, own);
    seen.add(text);
  }
}

interface MapRules<Item> {
  readonly max: number;
  /** Longer keys are truncated in paths. */
  readonly keyBytesMax: number;
  readonly checkKey: (key: string, path: string) => void;
  readonly check: Check<Item>;
}

/** Validates keys in alphabetic order; upstream's order is random. */
export function validateMap<Item>(
  map: Readonly<Record<string, Item>>,
  rules: MapRules<Item>,
  path: string,
  errors: FieldErrors,
): void {
  const entries = Object.entries(byName(map));
  if (entries.length > rules.max) return errors.tooMany(path, entries.length, rules.max);
  for (const [key, item] of entries) {
    rules.checkKey(key, path);
    rules.check(item, `${path}[${shortenedKey(key, rules.keyBytesMax)}]`);
  }
}

/** Truncates a long key in the middle, for paths. */
export function shortenedKey(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const kept = bytesMax - "...".length;
  return `${bytes.subarray(0, (kept + 1) >> 1)}...${bytes.subarray(bytes.length - (kept >> 1))}`;
}
