/**
 * Follows the stored flow schemas and priority levels, and puts them into effect.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go.
 */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import { type FlowSchema, readFlowSchema } from "../../flow-control/flow-schema.ts";
import type { Levels } from "../../flow-control/levels.ts";
import { type PriorityLevel, readPriorityLevel } from "../../flow-control/priority-level.ts";
import { borrowingPeriodMs } from "../../lib/fair-queuing/borrow-seats.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { derivedOnce } from "../../watch-cache/derived-once.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, QueueObservers } from "../contract.ts";
import { openWorkQueue, type WorkQueue } from "../work-queue.ts";
import { DanglingConditions, hasTrueCondition } from "./conditions.ts";

interface ConfigurationOptions<Request> {
  readonly registry: RegistryContext;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly levels: Levels<Request>;
  readonly queues?: QueueObservers | undefined;
}

/** The configuration in effect, and the controller that keeps it so. */
export interface Configuration<Request> extends Controller {
  /** Returns the levels, after changes that were stored before the call have taken effect. */
  current(): Levels<Request>;
  /** Called when a level can be removed. */
  changed(): void;
  /** Resolves when the stored objects are in effect. */
  readonly ready: Promise<void>;
}

/** Conditions that wait to be written; others wait for the next change. */
const schemasMax = 10_000;
/** When a condition that changes too often is written again. */
const retryMs = { first: 1_000, max: 60_000 };

/** A stored flow schema. */
interface StoredSchema {
  readonly schema: FlowSchema;
  /** Servers share it: it must not be changed. */
  readonly object: KubeObject;
}

/** The objects in the store, by key. */
class StoredObjects {
  readonly schemas = new Map<string, StoredSchema>();
  /** Broken levels are undefined. */
  readonly levels = new Map<string, PriorityLevel | undefined>();

  validLevels(): PriorityLevel[] {
    return [...this.levels.values()].flatMap((level) => level ?? []);
  }

  levelNames(): ReadonlySet<string> {
    return new Set(this.validLevels().map(({ name }) => name));
  }
}

/** Follows the objects from `start` on. Until then, the mandatory ones are in effect. */
export function followConfiguration<Request>(options: ConfigurationOptions<Request>): Configuration<Request> {
  const { clock, levels } = options;
  const stored = new StoredObjects();
  const queue = conditionQueue(options, stored);
  let followers: Follower[] = [];
  let isChanged = false;
  let stopped = false;
  let ready = Promise.resolve();
  let cancelAdjustment = (): void => {};

  function current(): Levels<Request> {
    if (!isChanged) return levels;
    isChanged = false;
    levels.configure(
      stored.validLevels(),
      Array.from(stored.schemas.values(), ({ schema }) => schema),
    );
    const names = stored.levelNames();
    for (const [key, { schema, object }] of stored.schemas)
      if (!hasTrueCondition(object, names.has(schema.level), clock.now())) queue.add(key);
    return levels;
  }

  /** Several changes at once take effect together, at the next request at the latest. */
  function changed(): void {
    if (isChanged || stopped) return;
    isChanged = true;
    setImmediate(current);
  }

  return {
    current,
    changed,
    get ready() {
      return ready;
    },
    start() {
      followers = followAll(options, stored, changed);
      cancelAdjustment = repeat(realClock(clock), borrowingPeriodMs, () => current().adjust());
      ready = Promise.all(followers.map(({ firstListDone }) => firstListDone)).then(() => void current());
    },
    async stop() {
      stopped = true;
      cancelAdjustment();
      for (const follower of followers) follower.stop();
      await queue.stop();
    },
  };
}

type Parts = Pick<ConfigurationOptions<never>, "registry" | "clock" | "logger" | "queues">;

/** A queue of flow schemas whose condition may have to change. */
function conditionQueue({ registry, logger, queues }: Parts, stored: StoredObjects): WorkQueue {
  const conditions = new DanglingConditions();
  return openWorkQueue({
    registry,
    observer: queues?.("priority_and_fairness_config_queue"),
    async reconcile(key, deciding) {
      const found = stored.schemas.get(key);
      if (found === undefined) return true;
      return conditions.ensure(deciding, found.object, stored.levelNames().has(found.schema.level));
    },
    failed: (key, error) => logger.warn("Failed to update a flow schema, retrying", { key, error: String(error) }),
    concurrency: 1,
    keysMax: schemasMax,
    firstDelayMs: retryMs.first,
    delayMaxMs: retryMs.max,
  });
}

const schemaOf = derivedOnce((entry: Entry, store: ResourceStore): StoredSchema => {
  const object = store.decode(entry);
  return { schema: readFlowSchema(object), object };
});

const levelOf = derivedOnce((entry: Entry, store: ResourceStore): { readonly level: PriorityLevel | undefined } => ({
  level: readPriorityLevel(store.decode(entry)),
}));

function followAll(parts: Parts, { schemas, levels }: StoredObjects, changed: () => void): Follower[] {
  const readLevel = (entry: Entry, store: ResourceStore): PriorityLevel | undefined => {
    const { level } = levelOf(entry, store);
    if (level === undefined) parts.logger.warn("Ignored a broken priority level", { name: entry.index.name });
    return level;
  };
  return [
    ...followKind(parts, "prioritylevelconfigurations", { objects: levels, read: readLevel, changed }),
    ...followKind(parts, "flowschemas", { objects: schemas, read: schemaOf, changed }),
  ];
}

interface Kind<T> {
  readonly objects: Map<string, T>;
  readonly read: (entry: Entry, store: ResourceStore) => T;
  readonly changed: () => void;
}

/** @returns nothing for kinds that are not served */
function followKind<T>({ registry, clock, logger }: Parts, resource: string, kind: Kind<T>): Follower[] {
  const { objects, read, changed } = kind;
  const store = registry.catalog.findServed("flowcontrol.apiserver.k8s.io", "v1", resource)?.resource.store;
  if (store === undefined) return [];
  const remove = (key: string): void => {
    if (objects.delete(key)) changed();
  };
  const follower = followCache({
    cache: store.cache,
    prefix: store.form.prefix,
    clock,
    set(entry) {
      objects.set(entry.key, read(entry, store));
      changed();
    },
    deleted: ({ key }) => remove(key),
    knownKeys: () => objects.keys(),
    missing: remove,
    failed: (error) => logger.warn("Failed to list flow control objects", { resource, error: String(error) }),
  });
  return [follower];
}
