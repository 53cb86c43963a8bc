/**
 * The plugin OwnerReferencesPermissionEnforcement: changing the owners of an object requires the
 * permission to delete it, because a deleted owner deletes its dependents; a dependent that blocks
 * the deletion of its owner requires the permission to change the owner's finalizers.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/gc/gc_admission.go.
 */
import { formatGroupVersion, type OwnerReference, parseGroupVersion } from "../../../apimachinery/object.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../../../authorization/contract.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { rejection } from "../../rejection.ts";
import { kindMapper, type Mapping } from "./kind-mapper.ts";

interface OwnerReferencesNeeds {
  readonly catalog: Pick<Catalog, "definitions" | "generation">;
  readonly authorize: Authorizer;
}

/** @returns the plugin OwnerReferencesPermissionEnforcement */
export function ownerReferencesPermissionEnforcement({ catalog, authorize }: OwnerReferencesNeeds): AdmissionPlugin {
  const findMapping = kindMapper(catalog);
  return {
    name: "OwnerReferencesPermissionEnforcement",
    validate(attributes) {
      if (!changesOwners(attributes)) return;
      return check(attributes, { authorize, findMapping });
    },
  };
}

/**
 * Whether a write changes the list of owners. The status of pods is not checked: it cannot change
 * them.
 */
function changesOwners({ operation, target, subresource, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== "CREATE" && operation !== "UPDATE") return false;
  const { group, resource } = target.resource.definition;
  if (group === "" && resource === "pods" && subresource === "status") return false;
  return !deepEqual(ownersOf(object), ownersOf(oldObject));
}

function ownersOf(object: AdmissionAttributes["object"]): readonly OwnerReference[] {
  return object?.metadata.ownerReferences ?? [];
}

interface CheckNeeds {
  readonly authorize: Authorizer;
  readonly findMapping: (group: string, version: string, kind: string) => Mapping | undefined;
}

/** @throws ApiError 403 */
async function check(attributes: AdmissionAttributes, needs: CheckNeeds): Promise<void> {
  const { authorize } = needs;
  if (attributes.operation === "UPDATE") {
    const decision = await authorize(deletionOf(attributes));
    const why = "cannot set an ownerRef on a resource you can't delete";
    if (decision.decision !== "allow") throw rejection(attributes, `${why}: ${reasonOf(decision)}`);
  }
  const blocking = newBlockingOwners(attributes);
  if (blocking.length === 0) return;
  if ((await authorize(anyFinalizers(attributes))).decision === "allow") return;
  for (const owner of blocking) await checkOwner(owner, attributes, needs);
}

const nothing = { isResourceRequest: true, path: "", fieldSelector: "", labelSelector: "" } as const;

function deletionOf({ user, namespace, target, subresource, name }: AdmissionAttributes): AuthorizationAttributes {
  const { resource, version } = target;
  const { group, resource: plural } = resource.definition;
  const what = { group, version: version.version, resource: plural, subresource, namespace, name };
  return { ...nothing, ...what, user, verb: "delete" };
}

/** Users with this permission need no mapping from kinds to resources. */
function anyFinalizers({ user }: AdmissionAttributes): AuthorizationAttributes {
  const any = { group: "*", version: "*", resource: "*", name: "*" };
  return { ...nothing, ...any, user, verb: "update", subresource: "finalizers", namespace: "" };
}

function reasonOf({ reason, error = "<nil>" }: Decision): string {
  return `${reason}, ${error}`;
}

/** @returns the blocking owners that the old object does not have, or that did not block */
function newBlockingOwners({ object, oldObject }: AdmissionAttributes): OwnerReference[] {
  const old = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner]));
  return ownersOf(object).filter(
    ({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && old.get(uid)?.blockOwnerDeletion !== true,
  );
}

/** An owner in a namespace is in that of the dependent. */
async function checkOwner(
  { apiVersion, kind, name }: OwnerReference,
  attributes: AdmissionAttributes,
  { authorize, findMapping }: CheckNeeds,
): Promise<void> {
  const { group = "", version = "" } = parseGroupVersion(apiVersion) ?? {};
  const mapping = findMapping(group, version, kind);
  if (mapping === undefined) throw rejection(attributes, unknownKind(apiVersion, kind));
  const decision = await authorize({
    ...nothing,
    user: attributes.user,
    verb: "update",
    group,
    version,
    resource: mapping.resource,
    subresource: "finalizers",
    namespace: mapping.namespaced ? attributes.namespace : "",
    name,
  });
  if (decision.decision === "allow") return;
  const why = "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on";
  throw rejection(attributes, `${why}: ${reasonOf(decision)}`);
}

function unknownKind(apiVersion: string, kind: string): string {
  const { group = "", version = "" } = parseGroupVersion(apiVersion) ?? {};
  const problem = `no matches for kind ${quoteGo(kind)} in version ${quoteGo(formatGroupVersion(group, version))}`;
  return `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${problem}`;
}
