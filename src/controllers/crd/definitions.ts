/**
 * Serves CustomResourceDefinitions: accepts their names, sets their conditions, and adds their
 * kinds to the catalog. Source:
 * `k8s.io/apiextensions-apiserver@v0.36.0/pkg/controller/status/naming_controller.go` and
 * `.../establish/establishing_controller.go`.
 */

import { notFound } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { MutableCatalog, Resolved, ResourceDefinition } from "../../catalog/contract.ts";
import { cloneJson } from "../../lib/json/values.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { update } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import type { DefinedVersions, DefinitionCondition, DefinitionRules } from "./contract.ts";
import { countObjects, deleteObjects } from "./custom-objects.ts";
import { type InstalledKinds, installedKinds } from "./installed-kinds.ts";
import { NamesInUse } from "./names-in-use.ts";

/** Maximum definitions in the queue; others wait for the next list. */
const definitionsMax = 10_000;
/** Definitions whose status is written concurrently: the writes share commits. Names are accepted one at a time. */
const definitionsAtOnce = 16;
/** Definitions that are finalized concurrently, as upstream. */
const finalizerConcurrency = 5;

/** Options of {@link definitionController}. */
export interface DefinitionControllerOptions extends ControllerOptions {
  readonly catalog: MutableCatalog;
  readonly rules: DefinitionRules;
  readonly release: (definition: ResourceDefinition) => void;
  readonly versions?: DefinedVersions;
}

/** The controller of CustomResourceDefinitions. */
export interface DefinitionController extends Controller {
  /** Resolves when the existing definitions are served, or could not be listed. */
  readonly ready: Promise<void>;
  /** Resolves when the definitions in the watch cache are served, and others no longer are. */
  settled(): Promise<void>;
}

/** Creates the controller that serves CustomResourceDefinitions, and deletes their objects with them. */
export function definitionController(options: DefinitionControllerOptions): DefinitionController {
  const { registry, logger, queues } = options;
  const target = registry.catalog.findServed("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (target === undefined)
    return { start() {}, stop: async () => {}, ready: Promise.resolve(), settled: async () => {} };
  const definitions = new Definitions(options, target);
  const finalizing = openWorkQueue({
    registry,
    observer: queues?.("crd_finalizer"),
    reconcile: (name, deciding) => definitions.finalize(name, deciding),
    failed: (name, error) =>
      logger.warn("Failed to delete the objects of a definition, retrying", { definition: name, error: String(error) }),
    concurrency: finalizerConcurrency,
    keysMax: definitionsMax,
  });
  const queue = openWorkQueue({
    registry,
    observer: queues?.("crd_naming_condition_controller"),
    reconcile: (name, deciding) =>
      definitions.reconcile(name, deciding, {
        enqueue: (other) => queue.add(other),
        finalize: (terminating) => finalizing.add(terminating),
      }),
    failed: (name, error) =>
      logger.warn("Failed to reconcile a definition, retrying", {
        definition: name,
        error: String(error),
      }),
    concurrency: definitionsAtOnce,
    keysMax: definitionsMax,
  });
  let follower: Follower | undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    ready: promise,
    settled: () => queue.idle(),
    start() {
      follower = definitions.follow((name) => queue.add(name), logger);
      follower.firstListDone.then(resolve, resolve);
    },
    async stop() {
      follower?.stop();
      await queue.stop();
      await finalizing.stop();
    },
  };
}

/** Further work that a reconciliation can request. */
interface Next {
  /** Enqueues another definition. */
  enqueue(name: string): void;
  /**
   * Enqueues the finalization of a definition, in a separate queue because its webhook may be slow.
   * @returns false when the queue is full
   */
  finalize(name: string): boolean;
}

class Definitions {
  readonly #options: DefinitionControllerOptions;
  readonly #target: Resolved;
  readonly #kinds: InstalledKinds;
  readonly #names = new NamesInUse();
  #last: { readonly entry: Entry; readonly definition: KubeObject } | undefined;

  constructor(options: DefinitionControllerOptions, target: Resolved) {
    this.#options = options;
    this.#target = target;
    const { catalog, release, rules } = options;
    this.#kinds = installedKinds({ catalog, release, customDefinition: rules.customDefinition });
  }

  get #store() {
    const { store } = this.#target.resource;
    if (store === undefined) throw new TypeError("definitions are stored");
    return store;
  }

  follow(enqueue: (name: string) => void, logger: Logger): Follower {
    const { cache, form } = this.#store;
    const nameOf = (key: string): string => key.slice(form.prefix.length);
    return followCache({
      cache,
      prefix: form.prefix,
      clock: this.#options.registry.clock,
      set: (entry) => {
        this.#add(this.#read(entry));
        enqueue(entry.index.name);
      },
      deleted: ({ index }: Entry) => enqueue(index.name),
      knownKeys: () => [...this.#names.definitions()].map((name) => form.prefix + name),
      missing: (key) => enqueue(nameOf(key)),
      failed: (error) => logger.warn("Failed to list definitions", { error: String(error) }),
    });
  }

  /** Adds a definition, and serves its kind immediately if it was established before. */
  #add(definition: KubeObject): void {
    const { metadata, spec } = definition;
    const name = metadata.name as string;
    this.#names.set(name, this.#options.rules.heldNames(definition));
    this.#options.versions?.set(name, spec?.group ?? "", servedVersions(spec));
    if (this.#options.rules.isConditionTrue(definition, "Established")) this.#kinds.install(definition);
  }

  /** @returns whether there is nothing left to do */
  async reconcile(name: string, registry: RegistryContext, { enqueue, finalize }: Next): Promise<boolean> {
    const { rules } = this.#options;
    const entry = await currentEntry(this.#store, this.#store.keyOf("", name));
    if (entry === undefined) {
      this.#remove(name, enqueue);
      return true;
    }
    const definition = this.#read(entry);
    const now = registry.clock.now();
    if (definition.metadata.deletionTimestamp !== undefined) return finalize(name);
    const accepted = rules.nextStatus(definition, this.#names.used(definition.spec?.group ?? ""), now);
    const next: KubeObject = { ...definition, status: accepted ?? cloneJson(definition.status) };
    const isNew = this.#serve(next) && rules.setCondition(next, rules.establish(next), now);
    if (accepted === undefined && !isNew) return true;
    const held = rules.heldNames(next);
    const release = this.#names.reserve(held); // No other definition gets them during the write.
    try {
      await this.#write(registry, next);
      this.#names.set(name, held);
    } finally {
      release();
      if (accepted !== undefined) this.#enqueueWaiting(held.group, enqueue);
    }
    return true;
  }

  /**
   * Serves the kind before the condition Established is written, so that clients that see the
   * condition can use it.
   * @returns whether the definition becomes established
   */
  #serve(definition: KubeObject): boolean {
    const { rules } = this.#options;
    return (
      rules.isConditionTrue(definition, "NamesAccepted") &&
      this.#kinds.install(definition) &&
      !rules.isConditionTrue(definition, "Established")
    );
  }

  /**
   * Decodes an entry and caches the last result.
   * @returns a shared object that must not be modified
   */
  #read(entry: Entry): KubeObject {
    if (this.#last?.entry !== entry) this.#last = { entry, definition: this.#store.decode(entry) };
    return this.#last.definition;
  }

  /**
   * Deletes the objects of a definition that is being deleted, then removes its finalizer, and
   * reports the progress in its conditions.
   * @returns whether it is done
   */
  async finalize(name: string, registry: RegistryContext): Promise<boolean> {
    const { rules } = this.#options;
    const entry = await currentEntry(this.#store, this.#store.keyOf("", name));
    if (entry === undefined) return true;
    const now = registry.clock.now();
    const definition = this.#store.decode(entry);
    const { deletionTimestamp, finalizers = [] } = definition.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(rules.cleanupFinalizer)) return true;
    await this.#change(registry, name, (next) => rules.setCondition(next, terminating.inProgress, now));
    const kind = this.#kinds.find(name);
    if (
      kind !== undefined &&
      (await countObjects(registry, kind)) > 0 &&
      !(await this.#deleteObjects(registry, name, kind, now))
    )
      return false;
    const outcome =
      kind === undefined ? terminating.unserved(rules.isConditionTrue(definition, "Established")) : terminating.done;
    await this.#change(registry, name, (next) => {
      rules.setCondition(next, outcome, now);
      next.metadata.finalizers = (next.metadata.finalizers ?? []).filter(
        (finalizer) => finalizer !== rules.cleanupFinalizer,
      );
    });
    return true;
  }

  /** @returns whether all objects are deleted; a failure is reported in a condition */
  async #deleteObjects(
    registry: RegistryContext,
    name: string,
    kind: ResourceDefinition,
    now: number,
  ): Promise<boolean> {
    const { rules } = this.#options;
    const deleted = await deleteObjects(registry, kind);
    if ("gone" in deleted) return deleted.gone;
    await this.#change(registry, name, (next) => rules.setCondition(next, terminating.failed(deleted.failure), now));
    return false;
  }

  /** Changes metadata and status of the current definition. @throws ApiError 404 */
  async #change(registry: RegistryContext, name: string, change: (next: KubeObject) => void): Promise<void> {
    await update(registry, {
      ...serverWrites.of(this.#target, "", name, "status"),
      next(current) {
        if (current === undefined) throw missing(name);
        const next = current();
        change(next);
        return next;
      },
    });
  }

  #remove(name: string, enqueue: (name: string) => void): void {
    const removed = this.#names.remove(name);
    this.#kinds.remove(name);
    this.#options.versions?.remove(name);
    if (removed !== undefined) this.#enqueueWaiting(removed.group, enqueue);
  }

  /** Enqueues definitions of the group that wait for names, which may be available now. */
  #enqueueWaiting(group: string, enqueue: (name: string) => void): void {
    for (const name of this.#names.waiting(group)) enqueue(name);
  }

  /** Writes the status if the definition has not changed. @throws ApiError 404, 409 */
  async #write(registry: RegistryContext, { metadata, status }: KubeObject): Promise<void> {
    const name = metadata.name as string;
    await update(registry, {
      ...serverWrites.of(this.#target, "", name, "status"),
      next(current) {
        if (current === undefined) throw missing(name);
        const next = current();
        next.metadata.resourceVersion = metadata.resourceVersion as string;
        next.status = status;
        return next;
      },
    });
  }
}

/** Values of the condition Terminating. */
const terminating = {
  inProgress: condition("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
  done: condition("False", "InstanceDeletionCompleted", "removed all instances"),
  failed: (why: string): DefinitionCondition => condition("True", "InstanceDeletionFailed", why),
  /**
   * @param established true only for definitions of built-in kinds, which are established but not
   * served
   */
  unserved: (established: boolean): DefinitionCondition =>
    established
      ? condition("False", "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
      : condition("False", "NeverEstablished", "resource was never established"),
};

function condition(status: "True" | "False", reason: string, message: string): DefinitionCondition {
  return { type: "Terminating", status, reason, message };
}

const missing = (name: string): Error =>
  notFound({ group: "apiextensions.k8s.io", resource: "customresourcedefinitions" }, name);

function servedVersions(spec: KubeObject["spec"]): string[] {
  const versions: readonly { readonly name: string; readonly served: boolean }[] = spec?.versions ?? [];
  return versions.filter(({ served }) => served).map(({ name }) => name);
}
