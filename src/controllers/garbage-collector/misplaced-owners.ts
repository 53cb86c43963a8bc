/** Tells of references to owners that are in another namespace than the object that names them: whoever wrote that may want to know. */
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { formatGroupVersion, type OwnerReference } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { create } from "../../registry/create.ts";
import { readMetadata } from "./metadata.ts";
import { ownerKind } from "./owners.ts";
import { type Item, writes } from "./writes.ts";

export interface MisplacedOwners {
  /** @param owners that are not where the item says @throws UnknownOwnerKind · whatever reading their kinds throws */
  tell(item: Item, owners: readonly OwnerReference[]): Promise<void>;
}

/** Owners that were found nowhere, and references that were told of, are remembered up to so many each; then all are forgotten. */
const rememberedMax = 500;

export function misplacedOwners({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): MisplacedOwners {
  const nowhere = new Set<string>();
  const told = new Set<string>();
  const remember = (set: Set<string>, text: string): void => {
    if (set.size >= rememberedMax) set.clear();
    set.add(text);
  };
  return {
    async tell(item, owners) {
      for (const owner of owners) {
        const { apiVersion, kind, name, uid } = owner;
        const named = `${apiVersion} ${kind} ${name} ${uid}`; // By another name it may be somewhere.
        const reference = `${item.meta.uid} ${uid}`;
        if (nowhere.has(named) || told.has(reference)) continue;
        if (!(await isElsewhere(registry, owner))) {
          remember(nowhere, named);
          continue;
        }
        remember(told, reference);
        try {
          await createEvent(registry, item, owner);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          logger.warn("an owner in another namespace could not be told of", {
            namespace: item.namespace,
            name: item.name,
            error: error.message,
          });
        }
      }
    },
  };
}

/** @returns whether an object of this kind, name and uid is in any namespace */
async function isElsewhere(registry: RegistryContext, reference: OwnerReference): Promise<boolean> {
  const { store, namespaced } = ownerKind(registry, reference);
  const namespaces = registry.catalog.findResource("", "namespaces")?.store;
  if (!namespaced || namespaces === undefined) return false;
  const owners = await store.cache.current();
  for (const { index } of (await namespaces.cache.current()).range(namespaces.form.prefix)) {
    const owner = owners.get(store.keyOf(index.name, reference.name));
    if (owner !== undefined && readMetadata(owner).uid === reference.uid) return true;
  }
  return false;
}

/** Source: the graph builder's reportInvalidNamespaceOwnerRef. */
async function createEvent(
  registry: RegistryContext,
  { kind, namespace, name, meta }: Item,
  owner: OwnerReference,
): Promise<void> {
  const target = registry.catalog.findServed("", "v1", "events");
  if (target === undefined) return;
  const { group, kind: objectKind } = kind.target.resource.definition;
  const apiVersion = formatGroupVersion(group, kind.target.version.version);
  const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
  const now = registry.clock.now();
  const eventNamespace = namespace === "" ? "default" : namespace;
  const suffix = registry.random(8).toString("hex");
  await create(registry, {
    ...writes.of(target, eventNamespace, ""),
    decode: () => ({
      metadata: { name: `${name}.${suffix}`, namespace: eventNamespace },
      involvedObject: { kind: objectKind, ...(namespace !== "" && { namespace }), name, uid: meta.uid, apiVersion },
      reason: "OwnerRefInvalidNamespace",
      message: `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`,
      source: { component: "garbage-collector-controller" },
      firstTimestamp: formatTime(now),
      lastTimestamp: formatTime(now),
      count: 1,
      type: "Warning",
      reportingComponent: "garbage-collector-controller",
    }),
  });
}
