/** Values that depend on a text only, made once. */

/**
 * @param max values that are kept; the one that was made first is forgotten when there are more
 * @returns returns the known value of a key, or makes it; a value whose making fails is not kept
 */
export function memo<V>(max: number): (key: string, make: () => V) => V {
  const values = new Map<string, V>();
  return (key, make) => {
    const known = values.get(key);
    if (known !== undefined) return known;
    const value = make();
    values.set(key, value);
    if (values.size > max) values.delete(values.keys().next().value as string);
    return value;
  };
}
