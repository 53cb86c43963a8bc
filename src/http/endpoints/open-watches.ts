/** The open watches of a server: their shared encoders, and their end at shutdown. */

import type { Resolved } from "../../catalog/contract.ts";
import type { WatchScope } from "../../registry/watch.ts";
import type { RequestContext } from "../contract.ts";
import { PieceMemory } from "../representation/pieces.ts";
import { type EventForm, WatchEncoder } from "./watch-encoder.ts";

/** Options of open watches. */
interface OpenWatchesOptions {
  /**
   * `--min-request-timeout`: a watch without a timeout ends after a random time between this and
   * twice as much.
   */
  readonly timeoutMinMs: number;
  /**
   * @returns a function that counts events sent to watches of a resource, by their sizes in bytes
   */
  counterOf(group: string, version: string, resource: string): (sizes: readonly number[]) => void;
  /** Called when a watch has sent the bookmark that ends its initial events. */
  listed(context: RequestContext): void;
  /** Called when a watch was closed because its client does not read. */
  cutOff(group: string, resource: string): void;
}

/** The open watches. */
export interface OpenWatches extends OpenWatchesOptions {
  /** Buffers for writes to a single watch. */
  readonly memory: PieceMemory;
  /** Ends every watch as its timeout would, at shutdown. Later watches end immediately. */
  endAll(): void;
  readonly size: number;
  /**
   * Adds a watch.
   * @returns a function that removes it
   */
  add(end: () => void): () => void;
  /**
   * The encoder shared by watches with the same scope and form; kept until all of them have
   * released it.
   */
  encoder(resolved: Resolved, form: EventForm, scope: WatchScope): { readonly encoder: WatchEncoder; release(): void };
}

/** Creates the set of open watches. */
export function openWatches(options: OpenWatchesOptions): OpenWatches {
  const ends = new Set<() => void>();
  const encoders = new WeakMap<Resolved, Map<string, { readonly encoder: WatchEncoder; users: number }>>();
  let ended = false;
  return {
    ...options,
    memory: new PieceMemory(),
    endAll() {
      ended = true;
      for (const end of [...ends]) end();
    },
    get size() {
      return ends.size;
    },
    add(end) {
      ends.add(end);
      if (ended) end();
      return () => void ends.delete(end);
    },
    encoder(resolved, form, scope) {
      const own = encoders.get(resolved) ?? new Map();
      encoders.set(resolved, own);
      const key = `${form.text}\n${scope.text}`;
      const shared = own.get(key) ?? { encoder: new WatchEncoder(form, scope), users: 0 };
      own.set(key, shared);
      shared.users += 1;
      return {
        encoder: shared.encoder,
        release() {
          shared.users -= 1;
          if (shared.users === 0) own.delete(key);
        },
      };
    },
  };
}
