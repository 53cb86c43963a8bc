/**
 * Removes a finalizer from objects that are being deleted when no other object uses them any more.
 * Sources: pvcprotection, pvprotection and vacprotection in
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/volume`, and `pkg/controller/scheduling/podgroupprotection`.
 */

import { realClock } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { update } from "../audited-writes.ts";
import { hasCaughtUp } from "../caught-up.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { writesAs } from "../controller-write.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import type { Protection, UserKind } from "./contract.ts";
import { Uses } from "./uses.ts";

/** Maximum objects in the queue; others are added later. */
const keysMax = 10_000;
/** Delay before objects are added again that the full queue rejected. */
const retryMs = 1_000;
/** As upstream: one object at a time. */
const concurrency = 1;

/** Creates the controller of one protected kind; without effect if the kind is not served. */
export function protectionController<Use>(options: ControllerOptions, protection: Protection<Use>): Controller {
  const { group, version, resource } = protection;
  const target = options.registry.catalog.findServed(group, version, resource);
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, stop: async () => {} };
  return new ProtectionController(options, protection, target, store);
}

/** A follower of users, with the cache that it follows. */
interface UserFollower {
  readonly follower: Follower;
  readonly store: ResourceStore;
}

class ProtectionController<Use> implements Controller {
  readonly #options: ControllerOptions;
  readonly #protection: Protection<Use>;
  readonly #target: Resolved;
  readonly #store: ResourceStore;
  readonly #queue: WorkQueue;
  readonly #uses = new Uses<Use>();
  /** The keys of the protected objects that may need a change. */
  readonly #pending = new Set<string>();
  #follower: Follower | undefined;
  #users: readonly UserFollower[] = [];
  #cancelRetry: (() => void) | undefined;

  constructor(options: ControllerOptions, protection: Protection<Use>, target: Resolved, store: ResourceStore) {
    const { registry, logger, queues } = options;
    this.#options = options;
    this.#protection = protection;
    this.#target = target;
    this.#store = store;
    this.#queue = openWorkQueue({
      registry,
      observer: queues?.(protection.queue),
      reconcile: (key, deciding) => this.#reconcile(key, deciding),
      failed: (key, error) =>
        logger.warn("Failed to protect an object in use, retrying", { key, error: String(error) }),
      concurrency,
      keysMax,
    });
  }

  start(): void {
    const store = this.#store;
    this.#users = this.#protection.users.flatMap((kind) => this.#followUsers(kind) ?? []);
    this.#follower = this.#follow(store, {
      set: (entry) => this.#setProtected(entry),
      deleted: ({ key }) => this.#pending.delete(key),
      knownKeys: () => this.#pending,
      missing: (key) => this.#pending.delete(key),
    });
  }

  async stop(): Promise<void> {
    this.#cancelRetry?.();
    this.#follower?.stop();
    for (const { follower } of this.#users) follower.stop();
    await this.#queue.stop();
  }

  #follow(
    { cache, form }: ResourceStore,
    callbacks: Pick<Parameters<typeof followCache>[0], "set" | "deleted" | "knownKeys" | "missing">,
  ): Follower {
    const { registry, logger } = this.#options;
    const { queue } = this.#protection;
    const failed = (error: unknown): void =>
      logger.warn("Protection of objects in use failed to list", { queue, error: String(error) });
    return followCache({ cache, prefix: form.prefix, clock: registry.clock, failed, ...callbacks });
  }

  #followUsers({ group, resource, marks, references }: UserKind<Use>): UserFollower | undefined {
    const store = this.#options.registry.catalog.findResource(group, resource)?.store;
    if (store === undefined) return undefined;
    const { prefix } = store.form;
    const set = (key: string, used: ReturnType<typeof references>): void => {
      for (const each of this.#uses.set(key, used)) if (this.#pending.has(each)) this.#enqueue(each);
    };
    // Quotes in JSON strings are escaped, so a mark with quotes can only be a key.
    const mayUse = ({ json }: Entry): boolean => marks.some((mark) => json.indexOf(mark, 0, "latin1") >= 0);
    const follower = this.#follow(store, {
      set: (entry) => set(entry.key, mayUse(entry) ? references(store.decode(entry), this.#store) : []),
      deleted: ({ key }) => set(key, []),
      knownKeys: () => [...this.#uses.users()].filter((key) => key.startsWith(prefix)),
      missing: (key) => set(key, []),
    });
    return { follower, store };
  }

  #setProtected(entry: Entry): void {
    if (this.#needsChange(this.#store.decode(entry))) {
      this.#pending.add(entry.key);
      this.#enqueue(entry.key);
    } else this.#pending.delete(entry.key);
  }

  /** Whether a change of this object or of its users can cause a write. */
  #needsChange({ metadata }: KubeObject): boolean {
    const { finalizer, addsFinalizer, updateStatus } = this.#protection;
    const isProtected = metadata.finalizers?.includes(finalizer) === true;
    if (metadata.deletionTimestamp !== undefined) return isProtected;
    return updateStatus !== undefined || (addsFinalizer && !isProtected);
  }

  #enqueue(key: string): void {
    if (this.#queue.add(key)) return;
    this.#cancelRetry ??= realClock(this.#options.registry.clock).after(retryMs, () => {
      this.#cancelRetry = undefined;
      for (const pending of this.#pending) this.#enqueue(pending);
    });
  }

  /** @returns whether there is nothing left to do until another event */
  async #reconcile(key: string, registry: RegistryContext): Promise<boolean> {
    const { finalizer, addsFinalizer, isUsed, updateStatus } = this.#protection;
    const entry = await currentEntry(this.#store, key);
    if (entry === undefined) return true;
    const object = this.#store.decode(entry);
    const isProtected = object.metadata.finalizers?.includes(finalizer) === true;
    if (object.metadata.deletionTimestamp !== undefined) {
      if (!isProtected) return true;
      if (!(await this.#knowsUsers())) return false;
      return isUsed(object, this.#uses.of(key)) || this.#write(registry, entry, "", withoutFinalizer(finalizer));
    }
    if (updateStatus !== undefined) {
      if (!(await this.#knowsUsers())) return false;
      const now = registry.clock.now();
      const change = (changed: KubeObject): boolean => updateStatus(changed, this.#uses.of(key), now);
      // The event of this write causes the next reconciliation.
      if (change(object)) return this.#write(registry, entry, "status", change);
    }
    return isProtected || !addsFinalizer || this.#write(registry, entry, "", withFinalizer(finalizer));
  }

  /** Whether the index of uses is as new as the store at the time of the call. */
  async #knowsUsers(): Promise<boolean> {
    if (this.#users.length === 0) return true;
    const revision = await this.#options.registry.storage.current();
    for (const { follower, store } of this.#users)
      if (!(await hasCaughtUp(follower, store.cache, revision))) return false;
    return true;
  }

  /** Writes the state that was checked, with a change. @returns false if another writer changed the object */
  #write(
    registry: RegistryContext,
    entry: Entry,
    subresource: string,
    change: (object: KubeObject) => void,
  ): Promise<boolean> {
    const { namespace, name } = entry.index;
    const request = writesAs(this.#protection.writer).of(this.#target, namespace, name, subresource);
    return unlessConflict(async () => {
      await update(registry, {
        ...request,
        next: () => {
          const object = this.#store.decode(entry);
          change(object);
          return object;
        },
      });
    });
  }
}

function withoutFinalizer(finalizer: string): (object: KubeObject) => void {
  return ({ metadata }) => {
    metadata.finalizers = (metadata.finalizers ?? []).filter((each) => each !== finalizer);
  };
}

function withFinalizer(finalizer: string): (object: KubeObject) => void {
  return ({ metadata }) => {
    metadata.finalizers = [...(metadata.finalizers ?? []), finalizer];
  };
}
