/**
 * The mode Node: what a kubelet may do for its node, with its own objects and with those its pods need; no opinion on all else.
 * Source: access-control §5.3, "Node authorizer"; upstream's node authorizer with the selector rules of 1.32.
 */
import { nodeIdentity } from "../../apimachinery/node-identity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { parseFieldSelector, requiresExactMatch } from "../../lib/selectors/field.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../contract.ts";
import { allow, noOpinion } from "../decisions.ts";
import { type PolicyRule, ruleAllows } from "../rbac/rule.ts";
import type { NodeRelations, RelatedKind } from "./relations.ts";

export interface NodeAuthorizerOptions {
  /** What every node may do, but for the resources that are looked at more closely here. */
  readonly rules: readonly PolicyRule[];
  enabled(gate: string): boolean;
}

export function nodeAuthorizer(relations: NodeRelations, options: NodeAuthorizerOptions): Authorizer {
  return (request) => {
    const node = nodeIdentity(request.user);
    if (node === undefined) return noOpinion;
    if (node === "") return because(`unknown node for user ${quoteGo(request.user.name)}`);
    const special = request.isResourceRequest ? resources[`${request.group}/${request.resource}`] : undefined;
    const decided = special?.({ node, request, relations, options });
    if (decided !== undefined) return decided;
    return options.rules.some((rule) => ruleAllows(rule, request)) ? allow : noOpinion;
  };
}

interface Case {
  readonly node: string;
  readonly request: AuthorizationAttributes;
  readonly relations: NodeRelations;
  readonly options: NodeAuthorizerOptions;
}

/** By group and resource; undefined leaves it to the rules. */
const resources: Readonly<Record<string, (each: Case) => Decision | undefined>> = {
  "/secrets": (each) => readNamespaced(each, "secret"),
  "/configmaps": (each) => readNamespaced(each, "configmap"),
  "/persistentvolumeclaims": (each) =>
    each.request.subresource === "status"
      ? updateStatus(each, "persistentvolumeclaim")
      : getOne(each, "persistentvolumeclaim"),
  "/persistentvolumes": (each) => getOne(each, "persistentvolume"),
  "resource.k8s.io/resourceclaims": (each) => getOne(each, "resourceclaim"),
  "storage.k8s.io/volumeattachments": (each) => getOne(each, "volumeattachment"),
  "/serviceaccounts": serviceAccounts,
  "coordination.k8s.io/leases": leases,
  "storage.k8s.io/csinodes": csiNodes,
  "resource.k8s.io/resourceslices": resourceSlices,
  "/nodes": (each) => (each.options.enabled("AuthorizeNodeWithSelectors") ? nodes(each) : undefined),
  "/pods": (each) => (each.options.enabled("AuthorizeNodeWithSelectors") ? pods(each) : undefined),
  "certificates.k8s.io/podcertificaterequests": (each) =>
    each.options.enabled("PodCertificateRequest") && each.options.enabled("AuthorizeNodeWithSelectors")
      ? certificateRequests(each)
      : noOpinion,
};

function because(reason: string): Decision {
  return { decision: "noOpinion", reason };
}

function related({ node, request, relations }: Case, kind: RelatedKind): Decision {
  if (request.name === "") return because("No Object name found");
  if (relations.areRelated(node, kind, request.namespace, request.name)) return allow;
  return because(`no relationship found between node '${node}' and this object`);
}

const isOneOf = (verb: string, ...verbs: readonly string[]): boolean => verbs.includes(verb);

function readNamespaced(each: Case, kind: RelatedKind): Decision {
  const { verb, subresource, namespace } = each.request;
  if (!isOneOf(verb, "get", "list", "watch")) return because("can only read resources of this type");
  if (subresource !== "") return because("cannot read subresource");
  return namespace === "" ? because("can only read namespaced object of this type") : related(each, kind);
}

function getOne(each: Case, kind: RelatedKind): Decision {
  if (each.request.verb !== "get") return because("can only get individual resources of this type");
  return each.request.subresource === "" ? related(each, kind) : because("cannot get subresource");
}

function updateStatus(each: Case, kind: RelatedKind): Decision {
  return isOneOf(each.request.verb, "update", "patch")
    ? related(each, kind)
    : because("can only get/update/patch this type");
}

function serviceAccounts(each: Case): Decision {
  const { verb, subresource, name } = each.request;
  if (verb === "get" && subresource === "") {
    const { enabled } = each.options;
    if (!enabled("KubeletServiceAccountTokenForCredentialProviders") && !enabled("PodCertificateRequest")) {
      return because("not allowed to get service accounts");
    }
    return readNamespaced(each, "serviceaccount");
  }
  if (verb !== "create" || name === "") return because("can only create tokens for individual service accounts");
  return subresource === "token"
    ? related(each, "serviceaccount")
    : because("can only create token subresource of serviceaccount");
}

const ownVerbs = ["get", "create", "update", "patch", "delete"] as const;

function leases({ node, request: { verb, namespace, name } }: Case): Decision {
  if (!isOneOf(verb, ...ownVerbs)) return because("can only get, create, update, patch, or delete a node lease");
  if (namespace !== "kube-node-lease")
    return because('can only access leases in the "kube-node-lease" system namespace');
  return verb === "create" || name === node
    ? allow
    : because("can only access node lease with the same name as the requesting node");
}

function csiNodes({ node, request: { verb, subresource, name } }: Case): Decision {
  if (!isOneOf(verb, ...ownVerbs)) return because("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return because("cannot authorize CSINode subresources");
  return verb === "create" || name === node
    ? allow
    : because("can only access CSINode with the same name as the requesting node");
}

function resourceSlices(each: Case): Decision {
  const { verb, subresource } = each.request;
  if (subresource !== "") return because("cannot authorize ResourceSlice subresources");
  if (verb === "create") return allow;
  if (isOneOf(verb, "get", "update", "patch", "delete")) return related(each, "resourceslice");
  if (!isOneOf(verb, "watch", "list", "deletecollection")) {
    return because(
      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
    );
  }
  if (!each.options.enabled("AuthorizeNodeWithSelectors") || selectsOwn(each, "spec.nodeName")) return allow;
  return because("can only list/watch/deletecollection resourceslices with nodeName field selector");
}

function certificateRequests(each: Case): Decision {
  const { verb, subresource } = each.request;
  if (subresource !== "") return because("nodes may not access the status subresource of PodCertificateRequests");
  if (verb === "create") return allow;
  if (verb === "get") return related(each, "podcertificaterequest");
  if (!isOneOf(verb, "list", "watch")) return because(`nodes may not ${verb} podcertificaterequests`);
  return selectsOwn(each, "spec.nodeName")
    ? allow
    : because("can only list/watch podcertificaterequests with nodeName field selector");
}

function nodes({ node, request: { verb, subresource, name } }: Case): Decision {
  if (subresource === "status") return isOneOf(verb, "update", "patch") ? allow : noOpinion;
  if (subresource !== "") return noOpinion;
  if (isOneOf(verb, "create", "update", "patch")) return allow; // Admission looks at which one it is.
  if (!isOneOf(verb, "get", "list", "watch")) return noOpinion;
  if (name === node) return allow; // Also before it is there.
  if (name === "") return because(`node '${node}' cannot read all nodes, only its own Node object`);
  return because(`node '${node}' cannot read '${name}', only its own Node object`);
}

function pods(each: Case): Decision {
  const { verb, subresource, name } = each.request;
  if (subresource === "status") return isOneOf(verb, "update", "patch") ? allow : noOpinion;
  if (subresource === "eviction") return verb === "create" ? allow : noOpinion;
  if (subresource !== "") return noOpinion;
  if (verb === "get") return getOne(each, "pod");
  if (isOneOf(verb, "list", "watch")) {
    if (selectsOwn(each, "spec.nodeName")) return allow;
    return name === "" ? because("can only list/watch pods with spec.nodeName field selector") : related(each, "pod");
  }
  return isOneOf(verb, "create", "delete") ? allow : noOpinion; // Admission looks at which one it is.
}

/** Whether only objects of the node itself are asked for. */
function selectsOwn({ node, request }: Case, field: string): boolean {
  if (request.fieldSelector === "") return false;
  try {
    return requiresExactMatch(parseFieldSelector(request.fieldSelector), field) === node;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
