/** How many keys a page of etcd has: its API limits the keys of an answer, but not the bytes. */
const sizes = { min: 16, first: 100, max: 4000 };
/** The bytes that a page should have. */
export const pageBytes = 4 << 20;

/** Adapts the number of keys of the next page to the bytes of the last one. */
export class PageSize {
  keys = sizes.first;

  observe(keys: number, bytes: number): void {
    if (keys === 0) return;
    const fitting = Math.floor((pageBytes * keys) / Math.max(bytes, 1));
    this.keys = Math.max(sizes.min, Math.min(sizes.max, fitting, this.keys * 4));
  }
}
