/**
 * Allocates addresses or ports to services. Each value has one holder and is free again when its
 * service is deleted.
 */

/** How long a reservation lasts until the service is stored; longer than any request. */
const reservationMs = 60_000;

/** The values in use and the reserved values of one range. */
export interface Allocator {
  /** Whether a service holds the value or a pending request has reserved it. */
  has(value: number, now: number): boolean;
  /** Reserves the value for a request whose service is not stored yet. */
  reserve(value: number, now: number): void;
  /** Releases the reservation of a request whose service was not stored. */
  release(value: number): void;
  /**
   * Finds the next free value after the one found last; a low value below `from` only if no other
   * is free.
   *
   * @returns undefined if no value is free
   */
  next(now: number): number | undefined;
  /** Replaces the values that one service holds. */
  hold(owner: string, values: readonly number[]): void;
  /** Removes all holders; reservations stay. */
  clear(): void;
}

/** The values from `first` to `to`, inclusive. */
export interface AllocatorRange {
  readonly first: number;
  /**
   * Values below are for services that request a value; others get them only if no other is free.
   */
  readonly from: number;
  readonly to: number;
}

/** Creates an allocator without holders. */
export function createAllocator({ first, from, to }: AllocatorRange): Allocator {
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
