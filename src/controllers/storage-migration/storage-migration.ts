/**
 * Runs StorageVersionMigrations: see KEP-4192. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/storageversionmigrator`.
 */
import { realClock } from "../../apimachinery/clock.ts";
import type { GroupResource } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import { migrate } from "./migrate.ts";
import { promote } from "./promote.ts";
import { controllerName, type Migrations, resourceOf } from "./status.ts";

/** As upstream: migrations of so many resources run at a time. */
const concurrency = 5;
/** Maximum keys in a queue; others are added later. */
const keysMax = 10_000;
const retryMs = 1_000;
/** A resource that the controller cannot migrate yet is checked again after so long at most. */
const delayMaxMs = 60_000;

/** Creates the controller; without effect if the kind is not served. */
export function storageMigrationController(options: ControllerOptions): Controller {
  const target = options.registry.catalog.findServed("storagemigration.k8s.io", "v1beta1", "storageversionmigrations");
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, stop: async () => {} };
  return new StorageMigrationController(options, { target, store });
}

class StorageMigrationController implements Controller {
  readonly #options: ControllerOptions;
  readonly #migrations: Migrations;
  /** Chooses the migration of a resource that runs; its keys are those of `#byResource`. */
  readonly #resources: WorkQueue;
  /** Runs migrations, by key. */
  readonly #runs: WorkQueue;
  /** The keys of the migrations of each resource. */
  readonly #byResource = new Map<string, { readonly resource: GroupResource; readonly keys: Set<string> }>();
  /** The resources of the migrations, by key. */
  readonly #resourceOf = new Map<string, string>();
  #follower: Follower | undefined;
  #cancelRetry: (() => void) | undefined;
  #stopped = false;

  constructor(options: ControllerOptions, migrations: Migrations) {
    const { registry, logger, queues } = options;
    this.#options = options;
    this.#migrations = migrations;
    const failed = (key: string, error: unknown): void =>
      logger.warn("Failed to migrate stored objects, retrying", { key, error: String(error) });
    const shared = { registry, failed, keysMax, delayMaxMs };
    this.#resources = openWorkQueue({
      ...shared,
      observer: queues?.("resource-version-controller"),
      reconcile: (key, deciding) => this.#promote(key, deciding),
      concurrency: 1,
    });
    this.#runs = openWorkQueue({
      ...shared,
      observer: queues?.(controllerName),
      reconcile: (key, deciding) => this.#migrate(key, deciding),
      concurrency,
    });
  }

  start(): void {
    const { registry, logger } = this.#options;
    const { cache, form } = this.#migrations.store;
    this.#follower = followCache({
      cache,
      prefix: form.prefix,
      clock: registry.clock,
      set: (entry) => this.#set(entry),
      deleted: ({ key }) => this.#remove(key),
      knownKeys: () => this.#resourceOf.keys(),
      missing: (key) => this.#remove(key),
      failed: (error) => logger.warn("Failed to list storage version migrations", { error: String(error) }),
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelRetry?.();
    this.#follower?.stop();
    await Promise.all([this.#resources.stop(), this.#runs.stop()]);
  }

  #set(entry: Entry): void {
    const { key } = entry;
    const resource = resourceOf(this.#migrations.store.decode(entry));
    const name = `${resource.group}/${resource.resource}`;
    const known = this.#byResource.get(name) ?? { resource, keys: new Set() };
    this.#byResource.set(name, known);
    known.keys.add(key);
    this.#resourceOf.set(key, name);
    this.#enqueue(this.#resources, name);
    this.#enqueue(this.#runs, key);
  }

  #remove(key: string): void {
    const name = this.#resourceOf.get(key);
    if (name === undefined) return;
    this.#resourceOf.delete(key);
    const known = this.#byResource.get(name);
    known?.keys.delete(key);
    if (known?.keys.size === 0) this.#byResource.delete(name);
    else this.#enqueue(this.#resources, name);
  }

  #enqueue(queue: WorkQueue, key: string): void {
    if (queue.add(key)) return;
    this.#cancelRetry ??= realClock(this.#options.registry.clock).after(retryMs, () => {
      this.#cancelRetry = undefined;
      for (const name of this.#byResource.keys()) this.#enqueue(this.#resources, name);
      for (const one of this.#resourceOf.keys()) this.#enqueue(this.#runs, one);
    });
  }

  async #promote(name: string, registry: RegistryContext): Promise<boolean> {
    const known = this.#byResource.get(name);
    if (known === undefined) return true;
    const snapshot = await this.#migrations.store.cache.current();
    const entries = [...known.keys].flatMap((key) => snapshot.get(key) ?? []);
    return promote(registry, this.#migrations, known.resource, entries);
  }

  async #migrate(key: string, registry: RegistryContext): Promise<boolean> {
    const { store } = this.#migrations;
    const entry = await currentEntry(store, key);
    if (entry === undefined) return true;
    const isOver = (): boolean => this.#stopped || store.cache.latest().get(key) === undefined;
    return migrate({ registry, migrations: this.#migrations, isOver }, entry);
  }
}
