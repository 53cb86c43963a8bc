import { join } from "node:path";
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";

export interface StorageOptions {
  readonly clock: Clock;
  /** How long old revisions are kept. */
  readonly historyMs: number;
  /** Bytes of old revisions beyond which the oldest go. */
  readonly historyBytesMax: number;
  /** The largest value a key may have. */
  readonly valueBytesMax: number;
  /** Changes that may wait for the disk, 10,000 when unset; beyond it a commit throws StorageUnavailable. */
  readonly waitingMax?: number;
  /** For what a person should see of how the store was found. */
  readonly logger?: Logger;
  /** Called once for each damaged record that is found. */
  readonly onDamage?: (damage: StorageDamage) => void;
  /** For tests of what happens when the disk fails. */
  readonly faults?: StorageFaults;
}

export interface StorageDamage {
  /** Undefined when it cannot be known. */
  readonly key: string | undefined;
  /** Of the change; negative when it cannot be known. */
  readonly revision: number;
  readonly problem: string;
}

export interface StorageFaults {
  /** Called before each group of changes is written; what it throws is taken for the disk's answer. */
  beforeWrite(): void | Promise<void>;
}

/** etcd's limit on a request. */
export const valueBytesMaxDefault = 1.5 * 1024 * 1024;

/** Where the store of a data directory is. */
export function storeDirectory(dataDir: string): string {
  return join(dataDir, "storage");
}
