/**
 * The plugin JobValidation rejects another parallelism of a Job whose pods are scheduled as a gang,
 * because a gang has a fixed size. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/job/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { rejection } from "../rejection.ts";

/**
 * @param enabled whether the feature gate GenericWorkload is on
 * @returns the plugin JobValidation
 */
export function jobValidation(catalog: Pick<Catalog, "findResource">, enabled: boolean): AdmissionPlugin {
  const name = "JobValidation";
  if (!enabled) return { name };
  return {
    name,
    async validate(attributes) {
      const { target, subresource, operation, object, oldObject } = attributes;
      const { group, resource } = target.resource.definition;
      if (resource !== "jobs" || group !== "batch" || subresource !== "" || operation !== "UPDATE") return;
      if (oldObject === undefined || object?.spec?.parallelism === oldObject.spec?.parallelism) return;
      const store = catalog.findResource("scheduling.k8s.io", "podgroups")?.store;
      const gang = store && (await findGang(store, oldObject));
      if (gang === undefined) return;
      const why = `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${quoteGo(gang)}`;
      throw rejection(attributes, why);
    },
  };
}

/** @returns the name of the gang: of the group that the pod template names, else of one that the Job controls */
async function findGang(store: ResourceStore, job: KubeObject): Promise<string | undefined> {
  const snapshot = await store.cache.current();
  const { namespace = "", uid = "" } = job.metadata;
  const named: string | undefined = job.spec?.template?.spec?.schedulingGroup?.podGroupName;
  if (named !== undefined) {
    const entry = snapshot.get(store.keyOf(namespace, named));
    return entry !== undefined && isGang(store.decode(entry)) ? named : undefined;
  }
  for (const entry of snapshot.range(store.keyOf(namespace, ""))) {
    if (!entry.json.includes(uid)) continue; // Without decoding the groups of others.
    const podGroup = store.decode(entry);
    if (isControlledBy(podGroup, uid) && isGang(podGroup)) return podGroup.metadata.name;
  }
  return undefined;
}

function isGang({ spec }: KubeObject): boolean {
  return spec?.schedulingPolicy?.gang !== undefined;
}

function isControlledBy({ metadata: { ownerReferences = [] } }: KubeObject, uid: string): boolean {
  return ownerReferences.find(({ controller }) => controller === true)?.uid === uid;
}
