/** Reports owner references to objects in another namespace, in an Event. */

import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { formatGroupVersion, type OwnerReference } from "../../apimachinery/object.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { recordEvent } from "../record-event.ts";
import { readMetadata } from "./metadata.ts";
import { ownerKind } from "./owners.ts";
import { type Item, writes } from "./writes.ts";

export interface MisplacedOwners {
  /**
   * Creates an Event for each owner that exists in another namespace.
   * @param registry of the run that has found the owners missing
   * @param owners that do not exist in the namespace of the item
   * @throws UnknownOwnerKind
   * @throws ApiError when objects of an owner's kind cannot be read
   */
  report(registry: RegistryContext, item: Item, owners: readonly OwnerReference[]): Promise<void>;
}

/** Maximum size of each cache of absent owners and reported references; a full cache is cleared. */
const cachedMax = 500;

export function misplacedOwners(logger: Logger): MisplacedOwners {
  const absent = new Set<string>();
  const reported = new Set<string>();
  const remember = (set: Set<string>, text: string): void => {
    if (set.size >= cachedMax) set.clear();
    set.add(text);
  };
  return {
    async report(registry, item, owners) {
      for (const owner of owners) {
        const { apiVersion, kind, name, uid } = owner;
        // The uid alone is not sufficient: another reference may have the correct kind and name.
        const identity = `${apiVersion} ${kind} ${name} ${uid}`;
        const reference = `${item.meta.uid} ${uid}`;
        if (absent.has(identity) || reported.has(reference)) continue;
        try {
          if (!(await isElsewhere(registry, owner))) {
            remember(absent, identity);
            continue;
          }
          await createEvent(registry, item, owner);
          remember(reported, reference);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          logger.warn("Failed to report an owner in another namespace", {
            namespace: item.namespace,
            name: item.name,
            error: error.message,
          });
        }
      }
    },
  };
}

/** Returns whether any namespace has an object with this kind, name and uid. */
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

/**
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector/graph_builder.go`,
 * reportInvalidNamespaceOwnerRef.
 */
function createEvent(
  registry: RegistryContext,
  { kind: { target }, namespace, name, meta }: Item,
  owner: OwnerReference,
): Promise<void> {
  const { group, kind } = target.resource.definition;
  const apiVersion = formatGroupVersion(group, target.version.version);
  const identity = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`;
  const subject = { apiVersion, kind, namespace, name, uid: meta.uid };
  return recordEvent(registry, writes, subject, {
    type: "Warning",
    reason: "OwnerRefInvalidNamespace",
    message: `ownerRef ${identity} does not exist in namespace ${quoteGo(namespace)}`,
    component: "garbage-collector-controller",
  });
}
