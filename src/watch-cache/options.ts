/** The options of a watch cache. */
import type { Clock } from "../apimachinery/clock.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import type { Storage, Stored } from "../storage/contract.ts";
import type { Entry, Snapshot } from "./contract.ts";
import type { CorruptErrors } from "./unreadable.ts";

/** What a watch cache follows, and its limits. */
export interface WatchCacheOptions {
  readonly storage: Storage;
  /** The prefix of the keys in this cache. */
  readonly prefix: string;
  /** The resource, as named in errors. */
  readonly resource?: GroupResource;
  /** False by default. */
  readonly namesCorrupt?: CorruptErrors["namesCorrupt"];
  /**
   * Creates an entry from a stored value.
   * @throws DecodeError when the value does not match the schema
   * @throws JsonSyntaxError when the value is not JSON
   * @throws DamagedRecord when the stored record is damaged
   */
  readonly entryOf: (stored: Stored) => Entry;
  readonly clock: Clock;
  /**
   * Limits of the cached events. Above any of the three the oldest are dropped, and read from the
   * store when a watch needs them.
   */
  readonly eventsMax?: number;
  readonly eventBytesMax?: number;
  readonly eventAgeMaxMs?: number;
  /** How long snapshots are cached for the next chunk of a list; bounded by the history window. */
  readonly snapshotAgeMaxMs?: number;
  /**
   * The history window: watches of states that were superseded earlier are rejected, and exact lists
   * of states that were last listed earlier.
   */
  readonly historyMs?: number;
  /** False rejects watches of the states that exact lists reject, as upstream for resources without a cache. */
  readonly watchesCompacted?: boolean;
  /** False reads all exact states from the store. */
  readonly keepsSnapshots?: boolean;
  /** Selectable fields to index. */
  readonly indexedFields?: readonly string[];
  /**
   * A state of another cache with which this one begins, without reading the store, which must have the same state now
   * at the same revision.
   */
  readonly initial?: Snapshot | undefined;
  /**
   * Called when a subscriber throws: its subscription has ended, the others go on. Must not throw. Unless set, the
   * error is thrown where no subscriber notices it.
   */
  readonly failed?: (error: unknown) => void;
}

/** What options that are not set are. */
export const defaults = {
  eventsMax: 20_000,
  eventBytesMax: 16 << 20,
  eventAgeMaxMs: 5 * 60_000,
  snapshotAgeMaxMs: 75_000,
  historyMs: Number.POSITIVE_INFINITY,
  watchesCompacted: true,
  namesCorrupt: false,
  keepsSnapshots: true,
  indexedFields: [],
  resource: { group: "", resource: "objects" },
  failed: (error: unknown) =>
    queueMicrotask(() => {
      throw error;
    }),
};
