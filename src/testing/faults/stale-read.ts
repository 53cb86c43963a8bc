/** Answers reads from older states. */

import type { Clock } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { RequestContext } from "../../http/contract.ts";
import type { ObjectChange, RegistryContext } from "../../registry/contract.ts";
import { overriding } from "../overriding.ts";
import type { StaleReadFault } from "./contract.ts";

type WatchCache = ResourceStore["cache"];
type Snapshot = ReturnType<WatchCache["latest"]>;

/** Changes that are kept; older states cannot be selected. */
const changesMax = 10_000;

/** The revisions and times of the newest changes, by which rules select states. */
export class ChangeHistory {
  readonly #clock: Clock;
  readonly #changes: { readonly key: string; readonly revision: number; readonly at: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ key, revision }: ObjectChange): void {
    this.#changes.push({ key, revision, at: this.#clock.now() });
    if (this.#changes.length > changesMax * 2) this.#changes.splice(0, changesMax);
  }

  /** The revisions before the changes that a fault hides, oldest first; empty if it hides none. */
  hidden(prefix: string, { changes, ms }: StaleReadFault): number[] {
    const own = this.#changes.filter(({ key }) => key.startsWith(prefix));
    const since = this.#clock.now() - (ms ?? 0);
    const some = changes === undefined ? own.filter(({ at }) => at > since) : own.slice(-changes);
    return some.map(({ revision }) => revision - 1).sort((a, b) => a - b);
  }
}

/** A registry whose catalog finds the resource of the request in an older state. */
export async function staleRegistry(
  registry: RegistryContext,
  { info: { group, version, resource } }: RequestContext,
  fault: StaleReadFault,
  history: ChangeHistory,
): Promise<RegistryContext> {
  const resolved = registry.catalog.find(group, version, resource);
  const store = resolved?.resource.store;
  if (resolved === undefined || store === undefined) return registry;
  const state = await oldestAvailable(store.cache, history.hidden(store.form.prefix, fault));
  if (state === undefined) return registry;
  const lagging: ResourceStore = overriding(store, { cache: laggingCache(store.cache, state) });
  const stale = { ...resolved, resource: { ...resolved.resource, store: lagging } };
  const catalog = overriding(registry.catalog, {
    find: (...names) => {
      const found = registry.catalog.find(...names);
      return found === resolved ? stale : found;
    },
  });
  return { ...registry, catalog };
}

/** The first state that the history still has; undefined when it has none of them. */
async function oldestAvailable(cache: WatchCache, revisions: readonly number[]): Promise<Snapshot | undefined> {
  for (let at = 0; at < revisions.length; at = Math.ceil((at + 1 + revisions.length) / 2)) {
    try {
      return await cache.exactly(revisions[at] as number);
    } catch (error) {
      if (!(error instanceof ApiError && error.status.code === 410)) throw error;
    }
  }
  return undefined;
}

/** A cache that has received nothing after the state, except what a request waits for. */
function laggingCache(cache: WatchCache, state: Snapshot): WatchCache {
  return overriding(cache, {
    latest: () => state,
    current: async () => state,
    currentEntry: async (key) => state.get(key),
    getFromStorage: async (key) => state.get(key),
    async notOlderThan(revision) {
      if (revision <= state.revision) return state;
      await cache.notOlderThan(revision);
      return cache.exactly(revision);
    },
  });
}
