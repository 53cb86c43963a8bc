/**
 * Keeps a value while all generations are the same.
 *
 * @param generations the current generations of what the value is made of, always as many
 * @returns a function that returns the same value until a generation changes
 */
export function whileUnchanged<T>(generations: () => readonly unknown[], make: () => T): () => T {
  let current: { readonly generations: readonly unknown[]; readonly value: T } | undefined;
  return () => {
    const now = generations();
    if (!current?.generations.every((one, index) => one === now[index])) current = { generations: now, value: make() };
    return current.value;
  };
}
