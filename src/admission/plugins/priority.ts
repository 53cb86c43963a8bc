/**
 * The plugin Priority allows one default PriorityClass at most. Unlike upstream's, it does not set
 * the priority of pods.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/priority/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../contract.ts";
import { rejection } from "../rejection.ts";

const group = "scheduling.k8s.io";
const resource = "priorityclasses";

/** @returns the plugin Priority */
export function priority(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  return {
    name: "Priority",
    validate(attributes) {
      const { definition } = attributes.target.resource;
      if (definition.resource !== resource || definition.group !== group || attributes.subresource !== "") return;
      if (attributes.object?.globalDefault === true) return checkOnlyDefault(catalog, attributes);
    },
  };
}

async function checkOnlyDefault(
  catalog: Pick<Catalog, "findResource">,
  attributes: AdmissionAttributes,
): Promise<void> {
  const existing = await findDefault(catalog);
  if (existing === undefined) return;
  const name = existing.metadata.name ?? "";
  if (attributes.operation === "UPDATE" && name === attributes.object?.metadata.name) return;
  throw rejection(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}

/** If several classes are marked as default, the one with the lowest value counts. */
async function findDefault(catalog: Pick<Catalog, "findResource">): Promise<KubeObject | undefined> {
  const store = catalog.findResource(group, resource)?.store;
  if (store === undefined) return undefined;
  await store.cache.ready();
  let lowest: KubeObject | undefined;
  for (const entry of (await store.cache.current()).range(store.form.prefix)) {
    const object = store.decode(entry);
    if (object.globalDefault === true && (lowest === undefined || (object.value ?? 0) < (lowest.value ?? 0)))
      lowest = object;
  }
  return lowest;
}
