/** Follows the objects of one kind, from its watch cache, into the graph. */
import type { Clock } from "../../api/clock.ts";
import type { Logger } from "../../api/logger.ts";
import type { CacheEvent, CacheSubscription } from "../../watch-cache/contract.ts";
import type { FollowedKind, Graph } from "./graph.ts";
import { concernOf, readMetadata } from "./metadata.ts";

export interface Follower {
  readonly kind: FollowedKind;
  /** Resolves when the first list was read, or could not be. */
  readonly tried: Promise<void>;
  /** The graph has everything of this kind up to here; undefined while the list is being read. */
  readonly seen: number | undefined;
  stop(): void;
}

export interface FollowOptions {
  readonly kind: FollowedKind;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when a list had to be read again: deletions may have been missed. */
  relisted(): void;
}

/** How long until a list that could not be read, or was overtaken, is read again. */
const relistMs = 1_000;
/** Objects read before others may run. */
const pieceMax = 1_000;

export function follow(options: FollowOptions): Follower {
  const { kind, graph, clock, logger } = options;
  const { cache, form } = kind.store;
  let subscription: CacheSubscription | undefined;
  let stopped = false;
  let lists = 0;
  let cancel = (): void => {};

  const list = async (): Promise<void> => {
    await cache.ready();
    const snapshot = cache.latest();
    let read = 0;
    for (const entry of snapshot.range(form.prefix)) {
      graph.set(entry.key, kind, concernOf(entry));
      if (++read % pieceMax === 0) await new Promise(setImmediate);
      if (stopped) return;
    }
    if (lists > 0) for (const { key } of graph.nodes()) if (key.startsWith(form.prefix) && !snapshot.get(key)) graph.set(key, kind, undefined);
    subscription = cache.subscribe(snapshot.revision, { events: take, end: again });
    if (lists++ > 0) options.relisted();
  };
  const take = (batch: readonly CacheEvent[]): void => {
    for (const { type, entry } of batch) {
      if (type === "DELETED") graph.gone(entry.key, kind, readMetadata(entry).uid);
      else graph.set(entry.key, kind, concernOf(entry));
    }
  };
  const again = (): void => {
    subscription = undefined;
    if (!stopped) cancel = clock.after(relistMs, () => void start());
  };
  const start = (): Promise<void> =>
    list().catch((error: unknown) => {
      if (stopped) return;
      logger.warn("garbage collection waits for objects that could not be listed", { prefix: form.prefix, error: String(error) });
      again();
    });

  return {
    kind,
    tried: start(),
    get seen() {
      return subscription?.delivered;
    },
    stop() {
      stopped = true;
      cancel();
      subscription?.close();
    },
  };
}
