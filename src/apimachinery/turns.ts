/** Queues callers by key: one caller of a key runs at a time, in the order of `enter` calls. */
export interface Turns {
  /**
   * Waits for the turn of the caller.
   *
   * @returns a function that ends the turn; the caller must call it
   */
  enter(key: string): Promise<() => void>;
}

/** @returns empty queues */
export function openTurns(): Turns {
  /** The end of the last turn by key. Keys without callers are removed. */
  const ends = new Map<string, Promise<void>>();
  return {
    async enter(key) {
      const { promise: end, resolve: leave } = Promise.withResolvers<void>();
      const before = ends.get(key);
      ends.set(key, end);
      await before;
      return () => {
        if (ends.get(key) === end) ends.delete(key);
        leave();
      };
    },
  };
}
