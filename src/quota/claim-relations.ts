/**
 * Reads the device classes and pods that resource claims refer to from the watch caches.
 * Sources: k8s.io/dynamic-resource-allocation@v0.36.0/deviceclass/extendedresourcecache,
 * `getVerifiedPodUsage` in k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/resource_claims.go.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../catalog/contract.ts";
import type { ClaimRelations } from "./contract.ts";

const group = "resource.k8s.io";
const annotation = "resource.kubernetes.io/extended-resource-claim";
const implicit = "deviceclass.resource.kubernetes.io/";

/** The relations of claims, which can be read after their caches have been loaded. */
export interface CachedClaimRelations extends ClaimRelations {
  /** Loads the caches of device classes, claims and pods. */
  ready(): Promise<void>;
}

/** Reads the relations of claims from the watch caches. */
export function claimRelations(catalog: Pick<Catalog, "findResource">): CachedClaimRelations {
  const storeOf = (of: string, resource: string): ResourceStore | undefined =>
    catalog.findResource(of, resource)?.store;
  const classes = deviceClassIndex(() => storeOf(group, "deviceclasses"));
  return {
    async ready() {
      const stores = [storeOf(group, "deviceclasses"), storeOf(group, "resourceclaims"), storeOf("", "pods")];
      await Promise.all(stores.map((store) => store?.cache.ready()));
    },
    extendedResourceOf: (deviceClass) => classes().resources.get(deviceClass),
    hasClassFor: (resource) => classes().provided.has(resource),
    podOf: (claim) => findPod(claim, storeOf("", "pods"), storeOf(group, "resourceclaims")),
  };
}

interface DeviceClassIndex {
  /** Extended resources by device class. */
  readonly resources: ReadonlyMap<string, string>;
  /** All extended resources, also implicit ones. */
  readonly provided: ReadonlySet<string>;
}

/** Rebuilt when device classes have changed, which is rare. */
function deviceClassIndex(store: () => ResourceStore | undefined): () => DeviceClassIndex {
  let identity: object | undefined;
  let index: DeviceClassIndex = { resources: new Map(), provided: new Set() };
  return () => {
    const found = store();
    const snapshot = found?.cache.latest();
    if (found === undefined || snapshot === undefined || snapshot.identity === identity) return index;
    const resources = new Map<string, string>();
    const provided = new Set<string>();
    for (const entry of snapshot.range(found.form.prefix)) {
      const { spec } = found.decode(entry);
      provided.add(`${implicit}${entry.index.name}`);
      if (spec?.extendedResourceName === undefined) continue;
      resources.set(entry.index.name, spec.extendedResourceName);
      provided.add(spec.extendedResourceName);
    }
    [index, identity] = [{ resources, provided }, snapshot.identity];
    return index;
  };
}

/** Returns the pod if it and the claim refer to each other. */
function findPod(
  claim: KubeObject,
  pods: ResourceStore | undefined,
  claims: ResourceStore | undefined,
): KubeObject | undefined {
  const owner = podOwner(claim);
  if (owner === undefined) return undefined;
  const entry = pods?.cache.latest().get(pods.keyOf(claim.metadata.namespace ?? "", owner.name));
  const pod = entry && pods?.decode(entry);
  if (pod === undefined || pod.metadata.uid !== owner.uid) return undefined;
  const named = pod.status?.extendedResourceClaimStatus?.resourceClaimName;
  if (named !== undefined) return named === claim.metadata.name ? pod : undefined;
  return claims !== undefined && isFirstClaim(claim, owner.uid, claims) ? pod : undefined;
}

function podOwner({ metadata }: KubeObject): { readonly name: string; readonly uid: string } | undefined {
  if (metadata.annotations?.[annotation] !== "true") return undefined;
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === "Pod" && owner.apiVersion === "v1" ? owner : undefined;
}

/** Of several claims of one pod that does not name its claim, only the first is exempt. */
function isFirstClaim(claim: KubeObject, podUid: string, claims: ResourceStore): boolean {
  const { namespace = "", name = "", creationTimestamp = "" } = claim.metadata;
  for (const entry of claims.cache.latest().range(claims.keyOf(namespace, ""))) {
    if (entry.json.indexOf(podUid, 0, "latin1") < 0) continue; // Not decoded.
    const other = claims.decode(entry);
    if (podOwner(other)?.uid !== podUid) continue;
    const at = other.metadata.creationTimestamp ?? "";
    if (at < creationTimestamp || (at === creationTimestamp && (other.metadata.name ?? "") < name)) return false;
  }
  return true;
}
