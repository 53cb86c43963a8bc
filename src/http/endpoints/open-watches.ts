/** The watches of one server: what they share, and how they are ended together. */

import type { Resolved } from "../../catalog/contract.ts";
import type { WatchScope } from "../../registry/watch.ts";
import type { RequestContext } from "../contract.ts";
import { PieceMemory } from "../representation/pieces.ts";
import { type EventForm, WatchEncoder } from "./watch-encoder.ts";

export interface OpenWatchesOptions {
  /** `--min-request-timeout`: how long a watch lasts whose client does not say: this long to twice as long. */
  readonly timeoutMinMs: number;
  /** @returns counts events that were sent to one watch of a resource, by their bytes */
  counterOf(group: string, version: string, resource: string): (sizes: readonly number[]) => void;
  /** A watch has sent the bookmark that ends what was there when it began. */
  listed(context: RequestContext): void;
  /** A watch was cut off, because its client reads nothing. */
  cutOff(group: string, resource: string): void;
}

export interface OpenWatches extends OpenWatchesOptions {
  /** Of what is written to one watch alone. */
  readonly memory: PieceMemory;
  /** Ends every watch as its timeout would, at shutdown. Watches that come later end at once. */
  endAll(): void;
  readonly size: number;
  /** @returns forgets the watch */
  add(end: () => void): () => void;
  /** The encoder of all watchers who see the same objects in the same form; kept until every one of them has released it. */
  encoder(resolved: Resolved, form: EventForm, scope: WatchScope): { readonly encoder: WatchEncoder; release(): void };
}

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
