/**
 * Registers the group versions that this server serves as APIServices. Source:
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/autoregister/autoregister_controller.go.
 */

import { ApiError, notFound } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { ApiServices } from "../../forwarding/aggregator/contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { removeUnread } from "../../registry/commit.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { serverWrite } from "../../registry/server-write.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import { EncryptedValue } from "../../storage/encrypted-value.ts";
import { entryFromStored } from "../../watch-cache/entry.ts";
import { isReadFailure } from "../../watch-cache/unreadable.ts";
import { create, deleteOne, update } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import { type ApiServiceTarget, apiServiceTarget, readApiService } from "./api-service-store.ts";
import {
  apiServiceOf,
  builtinApiServices,
  DefinedApiServices,
  type DesiredApiService,
  managedLabel,
  normalized,
} from "./desired-api-services.ts";

/** Maximum APIServices in the queue; others wait for their next change. */
const keysMax = 20_000;
/** Enough for all built-in group versions, so that a new store gets them in one commit. */
const concurrency = 64;

interface RegistrationOptions extends ControllerOptions {
  readonly services: ApiServices;
}

/** The controller that registers APIServices. */
export interface ApiServiceRegistration extends Controller {
  /** Receives the versions of CustomResourceDefinitions, also before the start. */
  readonly definitions: DefinedApiServices;
  /** Resolves when it has tried to register each built-in group version. */
  readonly tried: Promise<void>;
}

/**
 * Creates the controller. It starts when the CustomResourceDefinitions are read, because it deletes
 * the APIServices of those that do not exist.
 */
export function apiServiceRegistration(options: RegistrationOptions): ApiServiceRegistration {
  const { registry, logger, queues, services } = options;
  const target = apiServiceTarget(registry);
  let queue: WorkQueue | undefined;
  const definitions = new DefinedApiServices((name) => queue?.add(name));
  if (target === undefined) return { definitions, tried: Promise.resolve(), start() {}, stop: async () => {} };
  const registered = new RegisteredApiServices(registry.catalog, target, definitions);
  const untried = new Set(registered.builtinNames);
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  const ended = (name: string): void => {
    if (untried.delete(name) && untried.size === 0) resolve();
  };
  let stopFollowing = (): void => {};
  return {
    definitions,
    tried,
    start() {
      const started = openWorkQueue({
        registry,
        observer: queues?.("autoregister"),
        reconcile: (name, deciding) => registered.reconcile(deciding, name).finally(() => ended(name)),
        failed: (name, error) =>
          logger.warn("Failed to register an APIService, retrying", { name, error: String(error) }),
        concurrency,
        keysMax,
      });
      queue = started;
      registered.start(services);
      stopFollowing = services.onChange((old, next) => void started.add((next ?? old)?.name as string));
      const names = [...services.list().map(({ name }) => name), ...registered.builtinNames, ...definitions.names()];
      for (const name of new Set(names)) started.add(name);
      if (untried.size === 0) resolve();
    },
    async stop() {
      stopFollowing();
      await queue?.stop();
      resolve();
    },
  };
}

class RegisteredApiServices {
  readonly #target: ApiServiceTarget;
  readonly #builtin: ReadonlyMap<string, DesiredApiService>;
  readonly #definitions: DefinedApiServices;
  /** Names that existed when this controller started. */
  readonly #atStart = new Set<string>();
  /** Names that were reconciled without an error. */
  readonly #synced = new Set<string>();

  constructor(catalog: Catalog, target: ApiServiceTarget, definitions: DefinedApiServices) {
    this.#target = target;
    this.#definitions = definitions;
    this.#builtin = new Map(builtinApiServices(catalog).map((one) => [one.name, one]));
  }

  get builtinNames(): readonly string[] {
    return [...this.#builtin.keys()];
  }

  start(services: ApiServices): void {
    for (const { name } of services.list()) this.#atStart.add(name);
  }

  /** @returns false when another writer has changed the APIService */
  async reconcile(registry: RegistryContext, name: string): Promise<boolean> {
    const done = await this.#reconcile(registry, name);
    if (done) this.#synced.add(name);
    return done;
  }

  /** The cases are those of the table of `checkAPIService`. */
  async #reconcile(registry: RegistryContext, name: string): Promise<boolean> {
    const desired = this.#definitions.find(name) ?? this.#builtin.get(name);
    const current = await this.#read(registry, name, desired);
    if (desired?.managed === "onstart" && this.#synced.has(name)) return true; // Clients may delete and change it.
    if (current === undefined) return desired === undefined || this.#create(registry, desired);
    const managed = current.metadata.labels?.[managedLabel];
    if (managed !== "onstart" && managed !== "true") return true; // It is not ours.
    if (managed === "onstart" && (!this.#atStart.has(name) || this.#synced.has(name))) return true;
    if (desired === undefined) return this.#delete(registry, current);
    const { spec } = apiServiceOf(desired);
    if (deepEqual(normalized(current.spec), spec)) return true;
    return this.#update(registry, current, spec);
  }

  /** Removes a built-in APIService that cannot be read, so that it is created again. */
  async #read(
    registry: RegistryContext,
    name: string,
    desired: DesiredApiService | undefined,
  ): Promise<KubeObject | undefined> {
    try {
      return await readApiService(this.#target, name);
    } catch (error) {
      if (!(error instanceof ApiError) || desired?.managed !== "onstart") throw error;
      const { target, store } = this.#target;
      const stored = await registry.storage.get(store.keyOf("", name));
      if (stored === undefined) return undefined;
      try {
        entryFromStored(stored, store.source);
      } catch (unread) {
        if (!isReadFailure(unread) || unread instanceof EncryptedValue) throw unread;
        await removeUnread(registry, target.resource, name, stored);
        return undefined;
      }
      throw error;
    }
  }

  async #create(registry: RegistryContext, desired: DesiredApiService): Promise<boolean> {
    const decode = (): KubeObject => ({ ...apiServiceOf(desired), apiVersion: "apiregistration.k8s.io/v1" });
    try {
      await create(registry, { ...serverWrite({ target: this.#target.target, name: "" }), decode });
      return true;
    } catch (error) {
      // Its creation has added the name to the queue.
      if (error instanceof ApiError && error.status.reason === "AlreadyExists") return true;
      throw error;
    }
  }

  #update(registry: RegistryContext, { metadata }: KubeObject, spec: object): Promise<boolean> {
    const { name = "", resourceVersion } = metadata;
    const { target } = this.#target;
    return unlessConflict(async () => {
      await update(registry, {
        ...serverWrite({ target, name }),
        next(current) {
          const next = current?.();
          if (next === undefined) throw notFound(target.resource.definition, name);
          if (resourceVersion !== undefined) next.metadata.resourceVersion = resourceVersion;
          next.spec = spec;
          return next;
        },
      });
    });
  }

  #delete(registry: RegistryContext, { metadata: { name = "", uid } }: KubeObject): Promise<boolean> {
    const preconditions = uid === undefined ? {} : { uid };
    return unlessConflict(async () => {
      const request = serverWrite({ target: this.#target.target, name });
      await deleteOne(registry, { ...request, options: { dryRun: false, preconditions } });
    });
  }
}
