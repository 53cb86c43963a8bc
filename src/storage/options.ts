import { join } from "node:path";
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";

/** Options of all storage engines. */
export interface StorageOptions {
  readonly clock: Clock;
  /** Age at which old revisions are compacted. */
  readonly historyMs: number;
  /** Maximum bytes of old revisions; above it the oldest are compacted. */
  readonly historyBytesMax: number;
  /** Maximum bytes of a value. */
  readonly valueBytesMax: number;
  /**
   * Maximum changes that wait for the disk, 10,000 when unset; above it `commit` throws
   * StorageUnavailable.
   */
  readonly waitingMax?: number;
  readonly logger?: Logger;
  /** Called once for each damaged record. */
  readonly onDamage?: (damage: StorageDamage) => void;
  /** Fault injection, for tests. */
  readonly faults?: StorageFaults;
}

/** A damaged record, as `onDamage` reports it. */
export interface StorageDamage {
  /** Undefined when the damaged record does not reveal it. */
  readonly key: string | undefined;
  /** Revision of the change; negative when unknown. */
  readonly revision: number;
  readonly problem: string;
}

/** Fault injection, for tests. */
export interface StorageFaults {
  /**
   * Called before each group of changes is written. When it throws, the write fails with that
   * error.
   */
  beforeWrite(): void | Promise<void>;
}

/** The default of `valueBytesMax`: etcd's default limit of a request (`--max-request-bytes`). */
export const valueBytesMaxDefault = 1.5 * 1024 * 1024;

/** @returns the path of the store in a data directory */
export function storeDirectory(dataDir: string): string {
  return join(dataDir, "storage");
}
