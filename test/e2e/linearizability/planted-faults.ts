/** Stores that break a guarantee, which the check must find. */

import type { LogEvent, LogSubscriber, Storage } from "../../../src/storage/contract.ts";
import { peerLatency } from "../../support/peer-latency.ts";

/** Changes a store. */
export type PlantedFault = (storage: Storage, random: (below: number) => number) => Partial<Storage>;

/** How long a stale revision is used. */
const staleMs = 100;
/** One event or commit in so many is wrong. */
const rarity = 12;

/** Caches lag, as those of other servers do, and consistent reads do not always ask etcd. */
const staleReads: PlantedFault = (storage) => {
  let known: Promise<number> | undefined;
  const later = (run: () => void): void => void peerLatency(staleMs).then(run);
  return {
    reportsProgress: true,
    log: (prefix, from, subscriber) =>
      storage.log(prefix, from, {
        events: (batch) => later(() => subscriber.events(batch)),
        progress: (revision) => later(() => subscriber.progress(revision)),
        end: (error) => subscriber.end(error),
      }),
    current() {
      if (known === undefined) {
        known = storage.current();
        later(() => (known = undefined));
      }
      return known;
    },
  };
};

/** Some commits are acknowledged and not made. */
const lostWrites: PlantedFault = (storage, random) => ({
  async commit(checks, writes) {
    if (!isObject(writes[0]?.key) || random(rarity) > 0) return storage.commit(checks, writes);
    return { ok: true, revision: (await storage.current()) + 1 };
  },
});

/** Some commits ignore their preconditions. */
const lostUpdates: PlantedFault = (storage, random) => ({
  commit: (checks, writes) => storage.commit(isObject(writes[0]?.key) && random(2) === 0 ? [] : checks, writes),
});

const logWith = (
  storage: Storage,
  change: (batch: readonly LogEvent[]) => readonly LogEvent[],
): Pick<Storage, "log"> => ({
  log: (prefix, from, subscriber: LogSubscriber) =>
    storage.log(prefix, from, {
      events: (batch) => subscriber.events(change(batch)),
      progress: (revision) => subscriber.progress(revision),
      end: (error) => subscriber.end(error),
    }),
});

const droppedEvents: PlantedFault = (storage, random) =>
  logWith(storage, (batch) => batch.filter(({ key }) => !isObject(key) || random(rarity) > 0));

const repeatedEvents: PlantedFault = (storage, random) =>
  logWith(storage, (batch) => batch.flatMap((one) => (isObject(one.key) && random(rarity) === 0 ? [one, one] : [one])));

const isObject = (key = ""): boolean => key.startsWith("/registry/configmaps/");

export const plantedFaults: Readonly<Record<string, { readonly fault: PlantedFault; readonly found: RegExp }>> = {
  "consistent reads that do not ask etcd": {
    fault: staleReads,
    found: /older than an earlier answer|no state explains|not current/,
  },
  "acknowledged writes that are not made": { fault: lostWrites, found: /an acknowledged (write|deletion) was lost/ },
  "writes that ignore preconditions": { fault: lostUpdates, found: /replaced|no state explains|reverted|uid/ },
  "events that are not delivered": { fault: droppedEvents, found: /informer .* received|the list at/ },
  "events that are delivered twice": { fault: repeatedEvents, found: /informer .* received/ },
};

/** The store with a fault. */
export function withFault(storage: Storage, fault: PlantedFault, random: (below: number) => number): Storage {
  const changes = fault(storage, random);
  return new Proxy(storage, {
    get(target, name) {
      const value = Reflect.get(name in changes ? changes : target, name) as unknown;
      return typeof value === "function" ? value.bind(name in changes ? changes : target) : value;
    },
  });
}
