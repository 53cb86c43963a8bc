/** Finds the objects that a node's write refers to. */
import { type ApiError, notFound } from "../../../apimachinery/errors.ts";
import type { GroupResource } from "../../../apimachinery/object.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { currentObject } from "../../../registry/current-entry.ts";
import type { FindObject, LookedUpKind } from "./contract.ts";

const resources: Readonly<Record<LookedUpKind, GroupResource>> = {
  pod: { group: "", resource: "pods" },
  node: { group: "", resource: "nodes" },
  serviceaccount: { group: "", resource: "serviceaccounts" },
  persistentvolumeclaim: { group: "", resource: "persistentvolumeclaims" },
  persistentvolume: { group: "", resource: "persistentvolumes" },
  csidriver: { group: "storage.k8s.io", resource: "csidrivers" },
};

/** @returns a function that sees all writes committed before the call */
export function objectFinder(catalog: Pick<Catalog, "findResource">): FindObject {
  return (kind, namespace, name) => currentObject(catalog, resources[kind], namespace, name);
}

/** @returns an error 404 that names the kind in the singular, as upstream's listers do */
export function absent(kind: LookedUpKind, name: string): ApiError {
  return notFound({ group: resources[kind].group, resource: kind }, name);
}
