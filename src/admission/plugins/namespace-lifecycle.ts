/** Nothing is written into a namespace that is not there, nothing is created in one that is going. Source: upstream's plugin NamespaceLifecycle. */
import { forbidden, notFound } from "../../apimachinery/errors.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { AdmissionAttributes, AdmissionPlugin } from "../contract.ts";

const namespaces = { group: "", resource: "namespaces" };

export function namespaceLifecycle(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  let ready: ResourceStore | undefined;
  return {
    name: "NamespaceLifecycle",
    mutate(attributes) {
      if (!concerns(attributes)) return;
      if (ready !== undefined) return check(attributes, ready);
      const store = catalog.findResource(namespaces.group, namespaces.resource)?.store;
      if (store === undefined) return;
      return store.cache.ready().then(() => {
        ready = store;
        return check(attributes, store);
      });
    },
  };
}

/** Deletion goes on in a namespace that is going; reviews would tell which namespaces there are. */
function concerns({ operation, namespace, target }: AdmissionAttributes): boolean {
  if (namespace === "" || operation === "DELETE") return false;
  const { group, resource } = target.resource.definition;
  if (group === namespaces.group && resource === namespaces.resource) return false;
  return !(group === "authorization.k8s.io" && resource === "localsubjectaccessreviews");
}

function check(attributes: AdmissionAttributes, store: ResourceStore): void | Promise<void> {
  const key = store.keyOf("", attributes.namespace);
  const found = store.cache.latest().get(key);
  if (found !== undefined) return checkPhase(attributes, found);
  // A cache that lags behind a remote store may not have it yet.
  return store.cache.current().then((snapshot) => {
    const entry = snapshot.get(key);
    if (entry === undefined) throw notFound(namespaces, attributes.namespace);
    checkPhase(attributes, entry);
  });
}

function checkPhase(attributes: AdmissionAttributes, entry: Entry): void {
  if (attributes.operation !== "CREATE" || entry.index.fields.get("status.phase") !== "Terminating") return;
  const { namespace, target } = attributes;
  const { group, resource } = target.resource.definition;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw forbidden({ group, resource }, nameOf(attributes), why, [cause]);
}

function nameOf({ name, object }: AdmissionAttributes): string {
  return name || object?.metadata.name || object?.metadata.generateName || "Unknown";
}
