/**
 * Compares the watch caches with a store whose changes arrive over a network. Source: feature gate
 * DetectCacheInconsistency, `startChecking` in
 * k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator.go.
 */
import { realClock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { GroupResource } from "../apimachinery/object.ts";
import { randomFraction } from "../apimachinery/random.ts";
import type { Installer } from "../catalog/install.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { WatchCache } from "../watch-cache/contract.ts";
import { cachesByResource } from "./caches-by-resource.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerState } from "./state.ts";

const intervalMs = 5 * 60_000;
/** A check is this part of the interval later, at most, so that servers do not read the store at once. */
const jitter = 0.5;

interface Needs {
  readonly registry: Pick<RegistryContext, "catalog" | "gates" | "random">;
  readonly installer: Pick<Installer, "caches">;
  readonly state: Pick<ServerState, "isShared">;
  readonly closers: Closers;
}

/**
 * Starts to check the loaded caches, one after the other. A cache with a difference loads again. The embedded engines
 * hand each change to the caches themselves, so that there is nothing to check.
 */
export function checkCaches(
  { clock, logger }: Pick<ServerOptions, "clock" | "logger">,
  { registry: { catalog, gates, random }, installer, state, closers }: Needs,
): void {
  if (!state.isShared || !gates.enabled("DetectCacheInconsistency")) return;
  let isClosed = false;
  let cancel = (): void => {};
  const checkAll = async (): Promise<void> => {
    for (const [name, cache] of cachesByResource(catalog, installer)) {
      if (isClosed) return;
      if (cache.isLoaded) await checkCache(name, cache, logger);
    }
    next();
  };
  const next = (): void => {
    const fraction = randomFraction(random);
    if (!isClosed) cancel = realClock(clock).after(intervalMs * (1 + jitter * fraction), checkAll);
  };
  next();
  closers.add(() => {
    isClosed = true;
    cancel();
  });
}

async function checkCache(name: GroupResource, cache: WatchCache, logger: Logger): Promise<void> {
  const { checks } = cache.counts;
  try {
    const difference = await cache.check();
    if (difference === undefined) {
      checks.success += 1;
      return;
    }
    checks.failure += 1;
    logger.error("A watch cache differs from the store, and is loaded again", { ...name, ...difference });
  } catch (error) {
    checks.error += 1;
    logger.warn("A watch cache could not be compared with the store", { ...name, error: String(error) });
  }
}
