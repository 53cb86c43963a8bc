/** A line for each key: who enters waits for those before. */
export interface Turns {
  /** @returns when it is the caller's turn; what it returns ends the turn, and must be called */
  enter(key: string): Promise<() => void>;
}

export function openTurns(): Turns {
  /** By key, the end of the last turn. A key without anybody in line is not there. */
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
