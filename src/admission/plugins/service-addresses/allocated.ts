/** What services hold of one kind of thing, addresses or ports: given out once, and free again when the service is gone. */

/** How long something given out stays taken while nobody has seen it stored; a request takes less. */
const reservationMs = 60_000;

export interface Allocated {
  /** Whether it is held, or given out to a request still under way. */
  has(value: number, now: number): boolean;
  /** Gives it out to a request that has not been stored yet. */
  reserve(value: number, now: number): void;
  /** Takes it back from a request that was not stored. */
  release(value: number): void;
  /** The next free one, starting after the last; one of those kept when the others are gone; undefined when none is left. */
  next(now: number): number | undefined;
  /** What one service holds now, in place of what it held. */
  hold(owner: string, values: readonly number[]): void;
  clear(): void;
}

export interface Range {
  /** The first there is. Those before `from` are kept for who asks for one, and given out when the others are gone. */
  readonly first: number;
  readonly from: number;
  /** The last. */
  readonly to: number;
}

export function allocated({ first, from, to }: Range): Allocated {
  const holders = new Map<number, string>();
  const held = new Map<string, readonly number[]>();
  const reserved = new Map<number, number>();
  let cursor = from;

  const has = (value: number, now: number): boolean => {
    if (holders.has(value)) return true;
    const until = reserved.get(value);
    if (until === undefined) return false;
    if (until > now) return true;
    reserved.delete(value);
    return false;
  };
  return {
    has,
    reserve: (value, now) => void reserved.set(value, now + reservationMs),
    release: (value) => void reserved.delete(value),
    next(now) {
      const count = to - from + 1;
      for (let step = 0; step < count; step++) {
        const value = from + ((cursor - from + step) % count);
        if (has(value, now)) continue;
        cursor = value + 1;
        return value;
      }
      for (let value = first; value < from; value++) if (!has(value, now)) return value;
      return undefined;
    },
    hold(owner, values) {
      for (const value of held.get(owner) ?? []) if (holders.get(value) === owner) holders.delete(value);
      held.delete(owner);
      for (const value of values) {
        holders.set(value, owner);
        reserved.delete(value);
      }
      if (values.length > 0) held.set(owner, values);
    },
    clear() {
      holders.clear();
      held.clear();
    },
  };
}
