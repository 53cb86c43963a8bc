/** The writes of the namespace controller. */

import { notFound } from "../apimachinery/errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import type { RegistryContext } from "../registry/contract.ts";
import { plainList } from "../request/list-options.ts";
import { deleteMany, update } from "./audited-writes.ts";
import { writesAs } from "./controller-write.ts";

const writes = writesAs("namespace-controller");

/**
 * Changes the current state of a namespace; repeats the change after conflicts.
 * @param change modifies the object; called once per attempt
 * @throws ApiError 404 when the namespace does not exist
 */
export async function changeNamespace(
  registry: RegistryContext,
  name: string,
  subresource: "status" | "finalize",
  change: (namespace: KubeObject) => void,
): Promise<void> {
  const missing = notFound({ group: "", resource: "namespaces" }, name);
  const target = registry.catalog.findServed("", "v1", "namespaces");
  if (target === undefined) throw missing;
  await update(registry, {
    ...writes.of(target, "", name, subresource),
    next(current) {
      if (current === undefined) throw missing;
      const namespace = current();
      change(namespace);
      return namespace;
    },
  });
}

/**
 * Deletes all objects of a resource in a namespace, with background propagation.
 * @throws ApiError of the list or of the first failed deletion; other objects may be deleted then
 */
export async function deleteObjects(registry: RegistryContext, target: Resolved, namespace: string): Promise<void> {
  const options = { propagationPolicy: "Background", dryRun: false };
  await deleteMany(registry, { ...writes.of(target, namespace, ""), options, list: plainList });
}
