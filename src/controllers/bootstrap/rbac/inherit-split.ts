/**
 * Objects of releases before 1.9 and 1.14 whose permissions two objects have since: the new one is created with what an
 * administrator has changed in the old one. So a binding that was narrowed does not become wider by an upgrade.
 * Source: `primeAggregatedClusterRoles` and `primeSplitClusterRoleBindings` in
 * k8s.io/kubernetes@v1.36.0/pkg/registry/rbac/rest/storage_rbac.go.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { type BootObject, ensureObject, readOrRemove } from "../ensure-object.ts";

interface Split {
  readonly resource: "clusterroles" | "clusterrolebindings";
  readonly from: string;
  readonly to: string;
  /** The new object. @returns undefined when the old one is not of an earlier release */
  inherit(old: KubeObject, desired: BootObject["object"]): BootObject["object"] | undefined;
}

const splits: readonly Split[] = [
  ...["admin", "edit", "view"].map(
    (from): Split => ({
      resource: "clusterroles",
      from,
      to: `system:aggregate-to-${from}`,
      inherit: (old, { metadata }) =>
        old.aggregationRule === undefined
          ? { ...old, metadata: { ...inheritedMetadata(old), name: metadata.name } }
          : undefined,
    }),
  ),
  {
    resource: "clusterrolebindings",
    from: "system:discovery",
    to: "system:public-info-viewer",
    inherit: (old, desired) => ({
      ...desired,
      metadata: { ...inheritedMetadata(old), name: desired.metadata.name },
      subjects: old.subjects ?? [],
    }),
  },
];

function inheritedMetadata({
  metadata: { labels, annotations },
}: KubeObject): Pick<KubeObject["metadata"], "labels" | "annotations"> {
  return { ...(labels && { labels }), ...(annotations && { annotations }) };
}

/** Creates the new objects that are missing. @throws ApiError if an object cannot be written */
export async function inheritSplitObjects(registry: RegistryContext, policy: readonly BootObject[]): Promise<void> {
  for (const { resource, from, to, inherit } of splits) {
    const desired = policy.find((one) => one.resource === resource && one.object.metadata.name === to);
    if (desired === undefined || (await find(registry, desired, to)) !== undefined) continue;
    const old = await find(registry, desired, from);
    const object = old && inherit(old, desired.object);
    if (object !== undefined) await ensureObject(registry, { ...desired, object });
  }
}

async function find(
  registry: RegistryContext,
  { group, version, resource }: BootObject,
  name: string,
): Promise<KubeObject | undefined> {
  const target = registry.catalog.findServed(group, version, resource);
  return target && readOrRemove(registry, target, "", name);
}
