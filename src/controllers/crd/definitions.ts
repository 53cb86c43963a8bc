/**
 * Brings definitions to be served: gives them their names, says so in their conditions, and puts their kinds into the catalogue.
 * Source: k8s.io/apiextensions-apiserver pkg/controller/status, establish
 */
import { notFound } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { MutableCatalog, Resolved, ResourceDefinition } from "../../catalog/contract.ts";
import { cloneJson, deepEqual } from "../../lib/json/values.ts";
import { update } from "../../registry/update.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import type { DefinitionCondition, DefinitionRules } from "./contract.ts";
import { countObjects, deleteObjects } from "./custom-objects.ts";
import { type InstalledKinds, installedKinds } from "./installed-kinds.ts";

const writes = writesAs("kube-apiserver");
/** Definitions known at once; more are looked at when the list is read again. */
const definitionsMax = 10_000;
/** Definitions whose objects are deleted at once, as upstream. */
const finalizedAtOnce = 5;

export interface DefinitionControllerOptions extends ControllerOptions {
  readonly catalog: MutableCatalog;
  readonly rules: DefinitionRules;
  readonly release: (definition: ResourceDefinition) => void;
}

export interface DefinitionController extends Controller {
  /** Resolves when the definitions that were there at the start are served, or could not be read. */
  readonly ready: Promise<void>;
}

export function definitionController(options: DefinitionControllerOptions): DefinitionController {
  const { registry, logger, queues } = options;
  const target = registry.catalog.findServed("apiextensions.k8s.io", "v1", "customresourcedefinitions");
  if (target === undefined) return { start() {}, stop: async () => {}, ready: Promise.resolve() };
  const definitions = new Definitions(options, target);
  const finalizing = openWorkQueue({
    clock: registry.clock,
    observer: queues?.("crd_finalizer"),
    reconcile: (name) => definitions.finalize(name),
    failed: (name, error) =>
      logger.warn("Failed to delete the objects of a definition, retrying", { definition: name, error: String(error) }),
    concurrency: finalizedAtOnce,
    keysMax: definitionsMax,
  });
  const queue = openWorkQueue({
    clock: registry.clock,
    observer: queues?.("crd_naming_condition_controller"),
    reconcile: (name) =>
      definitions.reconcile(name, {
        look: (other) => queue.add(other),
        finalize: (terminating) => finalizing.add(terminating),
      }),
    failed: (name, error) =>
      logger.warn("a definition could not be brought forward, will be tried again", {
        definition: name,
        error: String(error),
      }),
    concurrency: 1, // Two may want one name.
    keysMax: definitionsMax,
  });
  let follower: Follower | undefined;
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    ready: promise,
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

/** The result of checking a definition. */
interface Next {
  /** Looks at another definition. */
  look(name: string): void;
  /** Finalizes a definition that is being deleted, apart from the others: its webhook may be slow. @returns false when there is no room */
  finalize(name: string): boolean;
}

class Definitions {
  readonly #options: DefinitionControllerOptions;
  readonly #target: Resolved;
  readonly #kinds: InstalledKinds;
  /** By name, with their groups and accepted names: what names are decided by. */
  readonly #summaries = new Map<string, KubeObject>();
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

  follow(look: (name: string) => void, logger: Logger): Follower {
    const { cache, form } = this.#store;
    const nameOf = (key: string): string => key.slice(form.prefix.length);
    return followCache({
      cache,
      prefix: form.prefix,
      clock: this.#options.registry.clock,
      set: (entry) => {
        this.#note(this.#read(entry));
        look(entry.index.name);
      },
      deleted: ({ index }: Entry) => look(index.name),
      knownKeys: () => [...this.#summaries.keys()].map((name) => form.prefix + name),
      missing: (key) => look(nameOf(key)),
      failed: (error) => logger.warn("definitions could not be listed, will be tried again", { error: String(error) }),
    });
  }

  /** What was served before stays so from the first moment on. */
  #note(definition: KubeObject): void {
    const { metadata, spec, status } = definition;
    this.#summaries.set(metadata.name as string, summary(metadata, spec, status));
    if (this.#options.rules.isConditionTrue(definition, "Established")) this.#kinds.install(definition);
  }

  /** @returns whether there is nothing left to do */
  async reconcile(name: string, { look, finalize }: Next): Promise<boolean> {
    const { rules, registry } = this.#options;
    const entry = this.#store.cache.latest().get(this.#store.keyOf("", name));
    if (entry === undefined) {
      this.#remove(name, look);
      return true;
    }
    const definition = this.#read(entry);
    const now = registry.clock.now();
    if (definition.metadata.deletionTimestamp !== undefined) return finalize(name);
    const accepted = rules.nextStatus(
      definition,
      rules.usedNames(this.#summaries.values(), definition.spec?.group ?? ""),
      now,
    );
    const wanted: KubeObject = { ...definition, status: accepted ?? cloneJson(definition.status) };
    const isNew = this.#serve(wanted) && rules.setCondition(wanted, rules.establish(wanted), now);
    if (accepted === undefined && !isNew) return true;
    await this.#write(definition, wanted.status);
    if (accepted !== undefined) this.#lookAtOthers(definition, look);
    return true;
  }

  /** @returns whether it is served from now on: who is told that it is established can use it at once */
  #serve(definition: KubeObject): boolean {
    const { rules } = this.#options;
    return (
      rules.isConditionTrue(definition, "NamesAccepted") &&
      this.#kinds.install(definition) &&
      !rules.isConditionTrue(definition, "Established")
    );
  }

  /** What was read last is likely to be asked for next. @returns not to be changed */
  #read(entry: Entry): KubeObject {
    if (this.#last?.entry !== entry) this.#last = { entry, definition: this.#store.decode(entry) };
    return this.#last.definition;
  }

  /** Deletes the objects of a definition that is being deleted, then removes its finalizer; conditions say how far it is. @returns whether it is done */
  async finalize(name: string): Promise<boolean> {
    const { rules, registry } = this.#options;
    const entry = this.#store.cache.latest().get(this.#store.keyOf("", name));
    if (entry === undefined) return true;
    const now = registry.clock.now();
    const definition = this.#store.decode(entry);
    const { deletionTimestamp, finalizers = [] } = definition.metadata;
    if (deletionTimestamp === undefined || !finalizers.includes(rules.cleanupFinalizer)) return true;
    await this.#change(name, (next) => rules.setCondition(next, terminating.underWay, now));
    const kind = this.#kinds.find(name);
    if (kind !== undefined && (await countObjects(registry, kind)) > 0 && !(await this.#deleteObjects(name, kind, now)))
      return false;
    const outcome =
      kind === undefined ? terminating.unserved(rules.isConditionTrue(definition, "Established")) : terminating.done;
    await this.#change(name, (next) => {
      rules.setCondition(next, outcome, now);
      next.metadata.finalizers = (next.metadata.finalizers ?? []).filter(
        (finalizer) => finalizer !== rules.cleanupFinalizer,
      );
    });
    return true;
  }

  /** @returns whether all are gone; why not is in a condition */
  async #deleteObjects(name: string, kind: ResourceDefinition, now: number): Promise<boolean> {
    const { rules, registry } = this.#options;
    const deleted = await deleteObjects(registry, kind);
    if ("gone" in deleted) return deleted.gone;
    await this.#change(name, (next) => rules.setCondition(next, terminating.failed(deleted.failure), now));
    return false;
  }

  /** Writes metadata and status, whatever others have written since; nothing where nothing changes. @throws ApiError 404 */
  async #change(name: string, change: (next: KubeObject) => void): Promise<void> {
    await update(this.#options.registry, {
      ...writes.of(this.#target, "", name, "status"),
      next(current) {
        if (current === undefined) throw missing(name);
        const next = current();
        change(next);
        return next;
      },
    });
  }

  #remove(name: string, look: (name: string) => void): void {
    const gone = this.#summaries.get(name);
    this.#summaries.delete(name);
    this.#kinds.remove(name);
    if (gone !== undefined) this.#lookAtOthers(gone, look);
  }

  /** Names may have become free for who waits for them. */
  #lookAtOthers({ metadata, spec }: KubeObject, look: (name: string) => void): void {
    for (const [name, other] of this.#summaries) {
      const waits = !deepEqual(other.spec.names, other.status.acceptedNames);
      if (waits && name !== metadata.name && other.spec.group === spec?.group) look(name);
    }
  }

  /** Only if the definition is still as it was looked at. @throws ApiError 404, 409 */
  async #write({ metadata, spec }: KubeObject, status: KubeObject["status"]): Promise<void> {
    const name = metadata.name as string;
    await update(this.#options.registry, {
      ...writes.of(this.#target, "", name, "status"),
      next(current) {
        if (current === undefined) throw missing(name);
        const next = current();
        next.metadata.resourceVersion = metadata.resourceVersion as string;
        next.status = status;
        return next;
      },
    });
    this.#summaries.set(name, summary(metadata, spec, status));
  }
}

/** What a definition says of itself while it goes. */
const terminating = {
  underWay: condition("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"),
  done: condition("False", "InstanceDeletionCompleted", "removed all instances"),
  failed: (why: string): DefinitionCondition => condition("True", "InstanceDeletionFailed", why),
  /** @param established only what the server has itself is established, and not served */
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

function summary(metadata: KubeObject["metadata"], spec: KubeObject["spec"], status: KubeObject["status"]): KubeObject {
  return {
    metadata: { name: metadata.name as string },
    spec: { group: spec?.group, names: spec?.names },
    status: { acceptedNames: status?.acceptedNames },
  };
}
