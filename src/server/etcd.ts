/** Opens the engine etcd: a cluster, and others for the resources of `overrides`. */
import { realClock } from "../apimachinery/clock.ts";
import { readResourcesTable } from "../catalog/resources-table.ts";
import type { Storage, StorageObserver } from "../storage/contract.ts";
import { openEtcdStorage } from "../storage/etcd/etcd-storage.ts";
import type { EtcdOverride, EtcdServerOptions } from "../storage/etcd/options.ts";
import { valueBytesMaxDefault } from "../storage/options.ts";
import { type Route, routeStorage } from "../storage/routed-storage.ts";
import type { ServerOptions } from "./options.ts";

/** How long a start waits for a member. */
const startTimeoutMs = 60_000;

/**
 * @param encrypt applied to each cluster
 * @throws Error when a URL is not valid · StorageUnavailable when no member answers in time
 */
export async function openEtcd(
  options: ServerOptions,
  observer: StorageObserver,
  encrypt: (storage: Storage) => Storage,
): Promise<Storage> {
  const { etcd, compactionIntervalMs = 0, clock, logger } = options;
  if (etcd === undefined) throw new Error("storage etcd needs the URLs of its servers");
  const open = async (servers: readonly string[]): Promise<Storage> => {
    const opened = await openEtcdStorage({
      ...etcd,
      servers,
      tls: etcd,
      clock: realClock(clock),
      logger,
      observer,
      valueBytesMax: valueBytesMaxDefault,
      compactionIntervalMs,
      startTimeoutMs,
    });
    return encrypt(opened);
  };
  const main = await open(etcd.servers);
  if (etcd.overrides.length === 0) return main;
  return routeStorage(main, await openRoutes(etcd, open, main));
}

/** Overrides with the same servers share a connection. */
async function openRoutes(
  { overrides }: EtcdServerOptions,
  open: (servers: readonly string[]) => Promise<Storage>,
  main: Storage,
): Promise<Route[]> {
  const opened = new Map<string, Storage>();
  const routes: Route[] = [];
  try {
    for (const override of overrides) {
      const name = override.servers.toSorted().join();
      const storage = opened.get(name) ?? (await open(override.servers));
      opened.set(name, storage);
      routes.push({ prefix: prefixOf(override), storage });
    }
    return routes;
  } catch (error) {
    await Promise.all([main, ...opened.values()].map((storage) => storage.close()));
    throw error;
  }
}

/** The prefix of a resource's keys. Custom resources have that of their definition. */
function prefixOf({ group, resource }: EtcdOverride): string {
  const row = readResourcesTable().resources.find((one) => one.group === group && one.resource === resource);
  return row?.storage?.prefix ?? `/registry/${group}/${resource}/`;
}
