/** Adds the objects of all served kinds to the graph, and follows changes of the served kinds. */
import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { hasCaughtUp } from "../caught-up.ts";
import { servedTarget } from "../served-target.ts";
import { follow, type KindFollower } from "./follow.ts";
import type { FollowedKind, Graph } from "./graph.ts";
import { everything, ownedBy, parked } from "./sweeper.ts";

interface KindFollowersOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  readonly graph: Graph;
  /** Called when objects have to be enqueued. @param part see `Sweeper.request` */
  requestSweep(part: string): void;
}

/** One follower for each served kind. */
export class KindFollowers {
  readonly #options: KindFollowersOptions;
  /** By key prefix. */
  readonly #followers = new Map<string, KindFollower>();
  /** Generation of the catalog at the last update. */
  #generation: number | undefined;
  #stopped = false;

  constructor(options: KindFollowersOptions) {
    this.#options = options;
  }

  /** Follows new kinds, and stops following removed ones; nothing after a stop. */
  update(): void {
    const { registry, requestSweep } = this.#options;
    if (this.#stopped || this.#generation === registry.catalog.generation) return;
    this.#generation = registry.catalog.generation;
    const kinds = followedKinds(registry);
    this.#stopRemoved(kinds);
    for (const [prefix, kind] of kinds) if (!this.#followers.has(prefix)) this.#start(prefix, kind);
    requestSweep(parked);
  }

  /** Resolves when the first list of each followed kind was processed, or has failed. */
  async firstListsDone(): Promise<void> {
    await Promise.all([...this.#followers.values()].map(({ firstListDone }) => firstListDone));
  }

  /**
   * Waits until the graph is as new as the store at the time of the call.
   * @returns false when a kind cannot be read: its objects might be dependents; also after a stop
   */
  async catchUp(): Promise<boolean> {
    if (this.#stopped) return false;
    this.update();
    const revision = await this.#options.registry.storage.current();
    for (const follower of this.#followers.values()) {
      if (!(await hasCaughtUp(follower, follower.kind.store.cache, revision))) return false;
    }
    return true;
  }

  /** Stops all followers. */
  stop(): void {
    this.#stopped = true;
    for (const follower of this.#followers.values()) follower.stop();
  }

  #stopRemoved(kinds: ReadonlyMap<string, FollowedKind>): void {
    const { graph } = this.#options;
    for (const [prefix, follower] of this.#followers) {
      if (kinds.get(prefix)?.store.cache === follower.kind.store.cache) continue;
      follower.stop();
      this.#followers.delete(prefix);
      for (const { key } of graph.nodes()) if (key.startsWith(prefix)) graph.set(key, follower.kind, undefined);
    }
  }

  #start(prefix: string, kind: FollowedKind): void {
    const { registry, logger, graph, requestSweep } = this.#options;
    const relisted = (): void => requestSweep(everything);
    const follower = follow({ kind, graph, clock: registry.clock, logger, relisted });
    this.#followers.set(prefix, follower);
    // The collector has not seen objects that were created and deleted before, but they may have
    // dependents.
    void follower.firstListDone.then(() => requestSweep(ownedBy(kind.target.resource.definition)));
  }
}

/**
 * Returns, by key prefix, every served kind whose objects can be listed, watched and deleted,
 * except events, as upstream.
 */
function followedKinds({ catalog }: RegistryContext): Map<string, FollowedKind> {
  const kinds = new Map<string, FollowedKind>();
  for (const definition of catalog.definitions()) {
    const { storage, resource, group } = definition;
    if (
      storage === undefined ||
      kinds.has(storage.prefix) ||
      (resource === "events" && (group === "" || group === "events.k8s.io"))
    )
      continue;
    const target = servedTarget(catalog, definition, ["list", "watch", "delete"]);
    if (target?.resource.store !== undefined) kinds.set(storage.prefix, { target, store: target.resource.store });
  }
  return kinds;
}
