/** The expiry times of a store by the position of the put: 16 bytes each, because events are many. */
import type { StoreSnapshot } from "../lmdb/snapshot.ts";

export interface ExpiryIndex {
  /** @returns milliseconds since 1970; undefined when the put does not expire */
  get(position: number): number | undefined;
}

export function readExpiryIndex({ expiry, transaction }: StoreSnapshot): ExpiryIndex {
  const count = expiry.getKeysCount({ start: [0, 0], transaction });
  const positions = new Float64Array(count);
  const times = new Float64Array(count);
  const order = new Uint32Array(count);
  let length = 0;
  for (const [at, position] of expiry.getKeys({ start: [0, 0], transaction, limit: count })) {
    positions[length] = position;
    times[length] = at;
    order[length] = length;
    length++;
  }
  const positionAt = (index: number): number => positions[order[index] as number] as number;
  order.sort((a, b) => (positions[a] as number) - (positions[b] as number));
  return {
    get(position) {
      let [low, high] = [0, length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (positionAt(middle) < position) low = middle + 1;
        else high = middle;
      }
      return low < length && positionAt(low) === position ? times[order[low] as number] : undefined;
    },
  };
}
