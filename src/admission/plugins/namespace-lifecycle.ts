/**
 * The plugin NamespaceLifecycle rejects writes into a missing namespace, and creations in a
 * namespace that is terminating.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/namespace/lifecycle/admission.go.
 */
import { type ApiError, internalError, notFound } from "../../apimachinery/errors.ts";
import type { Catalog, ResourceStore } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { unreadableName } from "../lookup.ts";
import { readyStore } from "../ready-store.ts";
import { rejection } from "../rejection.ts";

const namespaces = { group: "", resource: "namespaces" };

/** @returns the plugin NamespaceLifecycle */
export function namespaceLifecycle(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  let ready: ResourceStore | undefined;
  /** A cache that lags behind a remote storage engine may not have the namespace yet. */
  const checkCurrent = async (attributes: AdmissionAttributes): Promise<void> => {
    ready = await readyStore(catalog, namespaces);
    if (ready === undefined) return;
    const key = ready.keyOf("", attributes.namespace);
    const found = ready.cache.latest().get(key) ?? (await ready.cache.current()).get(key);
    if (found === undefined) throw missing(attributes.namespace);
    checkPhase(attributes, found);
  };
  return {
    name: "NamespaceLifecycle",
    // Every write passes through it, so it is synchronous for a namespace in the watch cache.
    mutate(attributes) {
      if (!needsNamespace(attributes)) return;
      const found = ready?.cache.latest().get(ready.keyOf("", attributes.namespace));
      return found === undefined ? checkCurrent(attributes) : checkPhase(attributes, found);
    },
  };
}

/**
 * Deletions are allowed in a terminating namespace. Access reviews are not checked, because errors
 * would reveal which namespaces exist.
 */
function needsNamespace({ operation, namespace, target }: AdmissionAttributes): boolean {
  if (namespace === "" || operation === "DELETE" || operation === "CONNECT") return false;
  const { group, resource } = target.resource.definition;
  if (group === namespaces.group && resource === namespaces.resource) return false;
  return !(group === "authorization.k8s.io" && resource === "localsubjectaccessreviews");
}

function missing(namespace: string): ApiError {
  const unreadable = unreadableName(namespace);
  return unreadable === undefined ? notFound(namespaces, namespace) : internalError(unreadable);
}

function checkPhase(attributes: AdmissionAttributes, entry: Entry): void {
  if (attributes.operation !== "CREATE" || entry.index.fields.get("status.phase") !== "Terminating") return;
  const { namespace } = attributes;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${namespace} is being terminated`,
    field: "metadata.namespace",
  };
  throw rejection(attributes, why, [cause]);
}
