/** Adds the objects of one kind to the graph, from its watch cache. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { FollowedKind, Graph } from "./graph.ts";
import { concerned, concernOf, readMetadata } from "./metadata.ts";

export interface KindFollower extends Follower {
  readonly kind: FollowedKind;
}

interface FollowOptions {
  readonly kind: FollowedKind;
  readonly graph: Graph;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after a repeated list: deletions may have been missed. */
  relisted(): void;
}

export function follow({ kind, graph, clock, logger, relisted }: FollowOptions): KindFollower {
  const { cache, form } = kind.store;
  const follower = followCache({
    cache,
    prefix: form.prefix,
    clock,
    first: (snapshot) => snapshot.matching(concerned),
    set: (entry) => graph.set(entry.key, kind, concernOf(entry)),
    deleted: (entry) => graph.deleted(entry.key, kind, readMetadata(entry).uid),
    *knownKeys() {
      for (const { key } of graph.nodes()) if (key.startsWith(form.prefix)) yield key;
    },
    missing: (key) => graph.set(key, kind, undefined),
    relisted,
    failed: (error) =>
      logger.warn("Garbage collection failed to list objects", {
        prefix: form.prefix,
        error: String(error),
      }),
  });
  return {
    kind,
    firstListDone: follower.firstListDone,
    get delivered() {
      return follower.delivered;
    },
    stop: follower.stop,
  };
}
