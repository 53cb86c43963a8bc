/**
 * Reads the device classes and pods that resource claims refer to from the watch caches.
 * Source: k8s.io/dynamic-resource-allocation@v0.36.0/deviceclass/extendedresourcecache.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import { podOfClaim } from "./claim-pod.ts";
import type { ClaimRelations } from "./contract.ts";

const group = "resource.k8s.io";
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

function findPod(
  claim: KubeObject,
  pods: ResourceStore | undefined,
  claims: ResourceStore | undefined,
): KubeObject | undefined {
  const { namespace = "" } = claim.metadata;
  return podOfClaim(claim, {
    findPod(name) {
      const entry = pods?.cache.latest().get(pods.keyOf(namespace, name));
      return entry && pods?.decode(entry);
    },
    *claimsAbout(podUid) {
      if (claims === undefined) return;
      for (const entry of claims.cache.latest().range(claims.keyOf(namespace, "")))
        if (entry.json.indexOf(podUid, 0, "latin1") >= 0) yield claims.decode(entry); // Others are not decoded.
    },
  });
}
