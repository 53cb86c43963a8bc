/**
 * Writes the status of quotas: copies their limits, and counts what is used. The admission plugin
 * charges what is added; this controller gives back what is deleted.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/controller/resourcequota.
 */

import { limitsBytes } from "../../admission/quota/read-quota.ts";
import { realClock } from "../../apimachinery/clock.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions, QueueObserver } from "../contract.ts";
import { openWorkQueue } from "../work-queue.ts";
import { KindsUsage } from "./kinds-usage.ts";
import { syncQuota } from "./sync-quota.ts";

interface ResourceQuotaOptions extends ControllerOptions {
  /** Interval at which everything is counted again; 0 for never. */
  readonly syncMs: number;
}

/** What is known of the limits of a quota. */
interface KnownLimits {
  /** The bytes from the spec on, without what is used, which changes most often. */
  readonly bytes: Buffer;
  /** The limits as text. */
  readonly hard: string;
}

/** Quotas that are counted concurrently, of each queue. */
const concurrency = 5;
/** Maximum quotas in a queue; others wait until everything is counted again. */
const quotasMax = 100_000;
/** Interval of checks for kinds that are served newly. */
const tickMs = 1_000;

/** Creates the controller of quotas. */
export function resourceQuotaController(options: ResourceQuotaOptions): Controller {
  const target = options.registry.catalog.findServed("", "v1", "resourcequotas");
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, stop: async () => {} };
  return new QuotaController(options, target, store);
}

class QuotaController implements Controller {
  readonly #options: ResourceQuotaOptions;
  readonly #store: ResourceStore;
  readonly #kinds: KindsUsage;
  /** By the name of the queue: quotas whose usage is unknown do not wait for others. */
  readonly #queues: Readonly<Record<"primary" | "priority", ReturnType<typeof openWorkQueue>>>;
  readonly #changes: QueueObserver | undefined;
  /** By namespace and key. */
  readonly #quotas = new Map<string, Map<string, KnownLimits>>();
  #follower: Follower | undefined;
  #generation: number | undefined;
  #cancelTick = (): void => {};
  #cancelResync = (): void => {};

  constructor(options: ResourceQuotaOptions, target: Resolved, store: ResourceStore) {
    const { registry, logger, queues } = options;
    this.#options = options;
    this.#store = store;
    this.#kinds = new KindsUsage({
      ...{ registry, logger },
      replenish: (namespace) => this.#handleChange(namespace),
      added: (namespace) => this.#enqueueNamespace(namespace),
      missed: () => this.#enqueueAll(),
    });
    this.#changes = queues?.("resource_quota_controller_resource_changes");
    const open = (name: "primary" | "priority"): ReturnType<typeof openWorkQueue> =>
      openWorkQueue({
        registry,
        observer: queues?.(`resourcequota_${name}`),
        reconcile: (key, deciding) => syncQuota({ registry: deciding, target, store, kinds: this.#kinds }, key),
        failed: (key, error) =>
          logger.warn("Failed to count the usage of a quota, retrying", { key, error: String(error) }),
        concurrency,
        keysMax: quotasMax,
      });
    this.#queues = { primary: open("primary"), priority: open("priority") };
  }

  start(): void {
    const { clock } = this.#options.registry;
    this.#follower = followCache({
      ...{ cache: this.#store.cache, prefix: this.#store.form.prefix, clock },
      set: (entry) => this.#set(entry),
      deleted: ({ key, index }) => this.#forget(index.namespace, key),
      knownKeys: () => [...this.#quotas.values()].flatMap((quotas) => [...quotas.keys()]),
      missing: (key) => {
        for (const namespace of [...this.#quotas.keys()]) this.#forget(namespace, key);
      },
      failed: (error) => this.#options.logger.warn("Failed to list quotas", { error: String(error) }),
    });
    this.#tick();
    this.#scheduleResync();
  }

  async stop(): Promise<void> {
    this.#cancelTick();
    this.#cancelResync();
    this.#follower?.stop();
    this.#kinds.stop();
    await Promise.all([this.#queues.primary.stop(), this.#queues.priority.stop()]);
  }

  /** Only a change of the limits matters: the controller and the plugin write the status. */
  #set(entry: Entry): void {
    const { namespace } = entry.index;
    const quotas = this.#quotas.get(namespace) ?? new Map<string, KnownLimits>();
    this.#quotas.set(namespace, quotas);
    const before = quotas.get(entry.key);
    const bytes = limitsBytes(entry.json);
    if (before?.bytes.equals(bytes) === true) return;
    const { spec, status } = this.#store.decode(entry);
    const hard = JSON.stringify(spec?.hard ?? {});
    quotas.set(entry.key, { bytes: Buffer.from(bytes), hard });
    if (before?.hard === hard) return;
    const isKnown =
      JSON.stringify(status?.hard ?? {}) === hard &&
      Object.keys(status?.hard ?? {}).every((name) => status?.used?.[name] !== undefined);
    this.#queues[isKnown ? "primary" : "priority"].add(entry.key);
  }

  #forget(namespace: string, key: string): void {
    const quotas = this.#quotas.get(namespace);
    if (quotas?.delete(key) && quotas.size === 0) this.#quotas.delete(namespace);
  }

  /**
   * Objects of the namespace use less, or otherwise. Upstream has a queue of such changes; here they
   * are counted as its keys, and do not wait.
   */
  #handleChange(namespace: string): void {
    const end = this.#changes?.added()();
    this.#enqueueNamespace(namespace);
    end?.();
  }

  #enqueueNamespace(namespace: string): void {
    for (const key of this.#quotas.get(namespace)?.keys() ?? []) this.#queues.primary.add(key);
  }

  #enqueueAll(): void {
    for (const namespace of this.#quotas.keys()) this.#enqueueNamespace(namespace);
  }

  /** Quotas may limit kinds that are served only now. */
  #tick(): void {
    const { catalog, clock } = this.#options.registry;
    if (this.#generation !== undefined && this.#generation !== catalog.generation) {
      this.#kinds.forgetKinds();
      this.#enqueueAll();
    }
    this.#generation = catalog.generation;
    this.#cancelTick = realClock(clock).after(tickMs, () => this.#tick());
  }

  #scheduleResync(): void {
    const { syncMs, registry } = this.#options;
    if (syncMs <= 0) return;
    this.#cancelResync = registry.clock.after(syncMs, () => {
      this.#kinds.recount();
      this.#enqueueAll();
      this.#scheduleResync();
    });
  }
}
