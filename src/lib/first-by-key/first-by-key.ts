/** An index of a list whose keys may repeat: the first entry of each key counts, as for a search from the beginning. */
export function firstByKey<Key, Value>(entries: Iterable<readonly [Key, Value]>): ReadonlyMap<Key, Value> {
  const first = new Map<Key, Value>();
  for (const [key, value] of entries) if (!first.has(key)) first.set(key, value);
  return first;
}
