/** Values that are derived from entries once, however many servers have them: a server and its forks share entries. */
import type { Entry } from "./contract.ts";

/**
 * Remembers what a function returns for an entry, as long as the entry exists.
 *
 * @param derive must depend on the entry only; others are what it reads the entry with
 * @returns the function; callers must not change what it returns
 */
export function derivedOnce<V extends object, With extends readonly unknown[]>(
  derive: (entry: Entry, ...readWith: With) => V,
): (entry: Entry, ...readWith: With) => V {
  const known = new WeakMap<Entry, V>();
  return (entry, ...readWith) => {
    const existing = known.get(entry);
    if (existing !== undefined) return existing;
    const value = derive(entry, ...readWith);
    known.set(entry, value);
    return value;
  };
}
