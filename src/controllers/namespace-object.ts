/**
 * Maintains one object with a fixed name in every active namespace, or in one; the base of several
 * controllers.
 */

import { ApiError } from "../apimachinery/errors.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { currentEntry } from "../registry/current-entry.ts";
import { decodedOnce } from "../registry/decoded-once.ts";
import type { Entry } from "../watch-cache/contract.ts";
import { derivedOnce } from "../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../watch-cache/follow.ts";
import { create, update } from "./audited-writes.ts";
import type { Controller } from "./contract.ts";
import type { ControllerWrites } from "./controller-write.ts";
import { openWorkQueue, type WorkQueue } from "./work-queue.ts";

interface NamespaceObjectOptions {
  readonly registry: RegistryContext;
  readonly logger: Logger;
  readonly writes: ControllerWrites;
  /** A resource of the core group. */
  readonly resource: string;
  readonly name: string;
  /** The only namespace with the object; all when unset. */
  readonly namespace?: string;
  /** Creates the object. */
  make(): KubeObject;
  /** Unset: existing objects are not changed. */
  readonly correction?: {
    isNeeded(object: KubeObject): boolean;
    apply(object: KubeObject): void;
  };
}

/** Maximum namespaces in the queue; others wait for the next list. */
const namespacesMax = 100_000;
const concurrency = 4;

export function namespaceObject(options: NamespaceObjectOptions): Controller {
  const { registry, logger, resource, name } = options;
  const namespaces = registry.catalog.findServed("", "v1", "namespaces")?.resource.store;
  const target = registry.catalog.findServed("", "v1", resource);
  const store = target?.resource.store;
  if (namespaces === undefined || target === undefined || store === undefined)
    return { start() {}, stop: async () => {} };
  const queue = openQueue(options, { namespaces, target, store });
  const known = new Set<string>();
  let followers: Follower[] = [];
  return {
    start() {
      const common = {
        clock: registry.clock,
        failed: (error: unknown) => logger.warn("Controller failed to list", { resource, name, error: String(error) }),
      };
      const ofNamespaces = followCache({
        ...common,
        cache: namespaces.cache,
        prefix: namespaces.form.prefix,
        set: ({ index }) => {
          if (options.namespace !== undefined && options.namespace !== index.name) return;
          known.add(index.name);
          queue.add(index.name);
        },
        deleted: ({ index }) => known.delete(index.name),
        knownKeys: () => [...known].map((name) => namespaces.keyOf("", name)),
        missing: (key) => known.delete(key.slice(namespaces.form.prefix.length)),
      });
      const enqueue = (namespace: string): void => {
        if (known.has(namespace)) queue.add(namespace);
      };
      // The index of an entry takes memory as long as the entry exists.
      const isNamed = ({ key }: Entry): boolean => key.endsWith(`/${options.name}`);
      const ofObjects = followCache({
        ...common,
        cache: store.cache,
        prefix: store.form.prefix,
        first() {
          known.forEach(enqueue); // The objects may have changed since their namespaces were read.
          return [];
        },
        set: (entry) => {
          if (options.correction !== undefined && isNamed(entry)) enqueue(entry.index.namespace);
        },
        deleted: (entry) => {
          if (isNamed(entry)) enqueue(entry.index.namespace);
        },
        knownKeys: () => [],
        missing: () => known.forEach(enqueue),
        relisted: () => known.forEach(enqueue),
      });
      followers = [ofNamespaces, ofObjects];
    },
    async stop() {
      for (const follower of followers) follower.stop();
      await queue.stop();
    },
  };
}

function openQueue(options: NamespaceObjectOptions, places: Places): WorkQueue {
  const { registry, logger, resource, name } = options;
  return openWorkQueue({
    registry,
    async reconcile(namespace, deciding) {
      await ensure({ ...options, registry: deciding }, places, namespace);
      return true;
    },
    failed: (namespace, error) =>
      logger.warn("Failed to write an object of a namespace, retrying", {
        namespace,
        resource,
        name,
        error: String(error),
      }),
    concurrency,
    keysMax: namespacesMax,
  });
}

const phaseOf = derivedOnce((entry: Entry, store: ResourceStore): { readonly phase: unknown } => ({
  phase: store.decode(entry).status?.phase,
}));

interface Places {
  readonly namespaces: ResourceStore;
  readonly target: Resolved;
  readonly store: ResourceStore;
}

async function ensure(
  options: NamespaceObjectOptions,
  { namespaces, target, store }: Places,
  namespace: string,
): Promise<void> {
  const { registry, writes, name, correction } = options;
  const holder = await currentEntry(namespaces, namespaces.keyOf("", namespace));
  if (holder === undefined || phaseOf(holder, namespaces).phase !== "Active") return;
  const entry = await currentEntry(store, store.keyOf(namespace, name));
  try {
    if (entry === undefined)
      await create(registry, { ...writes.of(target, namespace, ""), decode: () => options.make() });
    else if (correction?.isNeeded(decodedOnce(entry, store))) await change(options, target, namespace);
  } catch (error) {
    if (!(error instanceof ApiError) || !isConcurrentChange(error)) throw error;
  }
}

async function change(
  { registry, writes, name, make, correction }: NamespaceObjectOptions,
  target: Resolved,
  namespace: string,
): Promise<void> {
  await update(registry, {
    ...writes.of(target, namespace, name),
    next(current) {
      const object = current?.() ?? make();
      if (correction?.isNeeded(object)) correction.apply(object);
      return object;
    },
  });
}

/**
 * Returns whether the object was created or deleted concurrently, or its namespace is terminating.
 */
function isConcurrentChange({ status: { reason, details } }: ApiError): boolean {
  if (reason === "AlreadyExists" || reason === "NotFound") return true;
  return (details?.causes ?? []).some((cause) => cause.reason === "NamespaceTerminating");
}
