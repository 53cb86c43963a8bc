import type { Clock } from "../api/clock.ts";

export interface StorageOptions {
  readonly clock: Clock;
  /** How long old revisions are kept. */
  readonly historyMs: number;
  /** Bytes of old revisions beyond which the oldest go. */
  readonly historyBytesMax: number;
  /** The largest value a key may have. */
  readonly valueBytesMax: number;
}

/** etcd's limit on a request. */
export const valueBytesMaxDefault = 1.5 * 1024 * 1024;
