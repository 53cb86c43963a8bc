/**
 * Loads the watch caches of a shared store before the server is ready, so that the first requests after a restart do
 * not read etcd at once. Source: `k8s.io/apiserver@v0.36.0/pkg/server/storage_readiness_hook.go`.
 */
import { realClock } from "../apimachinery/clock.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { Catalog } from "../catalog/contract.ts";
import type { WatchCache } from "../watch-cache/contract.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerState } from "./state.ts";

/** Lets `/readyz` wait for the caches. */
export const cachesGate = "WatchCacheInitializationPostStartHook";
/** Caches that are loaded at a time. */
const loadsMax = 8;
/** A cache that could not be loaded is loaded again after this time. */
const retryMs = 1_000;

interface Needs {
  readonly gates: FeatureGates;
  readonly catalog: Pick<Catalog, "definitions" | "findResource">;
  readonly state: Pick<ServerState, "reached" | "isShared">;
  readonly closers: Closers;
}

type Options = Pick<ServerOptions, "clock" | "logger" | "storageInitializationTimeoutMs">;

/** Loads the caches of all built-in resources, without waiting; `caches` is reached at the end. */
export function loadCaches(options: Options, { gates, catalog, state, closers }: Needs): void {
  const { logger, storageInitializationTimeoutMs: timeoutMs } = options;
  const clock = realClock(options.clock);
  if (!state.isShared || !gates.enabled(cachesGate)) return void state.reached.add("caches");
  const waiting = builtinCaches(catalog);
  let ended = false;
  const end = (): void => {
    ended = true;
    cancel();
    state.reached.add("caches");
  };
  const cancel = clock.after(timeoutMs, () => {
    logger.warn("Watch caches are not loaded in time", { prefixes: [...waiting.keys()].join() });
    end();
  });
  closers.add(() => {
    ended = true;
    cancel();
  });
  const next = [...waiting];
  const loadNext = async (): Promise<void> => {
    for (let one = next.shift(); one !== undefined && !ended; one = next.shift()) {
      const [prefix, cache] = one;
      if (await canLoad(cache)) waiting.delete(prefix);
      else {
        await new Promise<void>((resolve) => void clock.after(retryMs, resolve));
        next.push(one);
      }
    }
  };
  void Promise.all(Array.from({ length: loadsMax }, loadNext)).then(() => !ended && end());
}

/** Requests report why a cache cannot be loaded. */
function canLoad(cache: Pick<WatchCache, "ready">): Promise<boolean> {
  return cache.ready().then(
    () => true,
    () => false,
  );
}

/** By key prefix. Events, of which there can be very many, have no watch cache upstream. */
function builtinCaches(catalog: Needs["catalog"]): Map<string, WatchCache> {
  const caches = new Map<string, WatchCache>();
  for (const { group, resource, custom } of catalog.definitions()) {
    const store = custom || resource === "events" ? undefined : catalog.findResource(group, resource)?.store;
    if (store !== undefined) caches.set(store.form.prefix, store.cache);
  }
  return caches;
}
