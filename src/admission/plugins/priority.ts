/** There is one default priority class at most. Source: the half of upstream's plugin Priority that looks at classes; pods are given no number here. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../contract.ts";
import { refusal } from "../refusal.ts";

const group = "scheduling.k8s.io";
const resource = "priorityclasses";

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
  const present = await findDefault(catalog);
  if (present === undefined) return;
  const name = present.metadata.name ?? "";
  if (attributes.operation === "UPDATE" && name === attributes.object?.metadata.name) return;
  throw refusal(attributes, `PriorityClass ${name} is already marked as default. Only one default can exist`);
}

/** The lowest, should there be several. */
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
