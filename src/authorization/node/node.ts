/**
 * The mode Node: allows a kubelet to access its own objects and the objects that its pods need.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/node/node_authorizer.go; KEP-4601
 * for field selectors.
 */
import { nodeIdentity } from "../../apimachinery/node-identity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { parseFieldSelector, requiresExactMatch } from "../../lib/selectors/field.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { AuthorizationAttributes, Authorizer, Decision, PolicyRule } from "../contract.ts";
import { allow, noOpinion } from "../decisions.ts";
import { ruleAllows } from "../rbac/rule.ts";
import type { NodeRelations, RelatedKind } from "./relations.ts";

/** The options of {@link nodeAuthorizer}. */
export interface NodeAuthorizerOptions {
  /** The rules of the ClusterRole system:node, for the resources without a check of their own. */
  readonly rules: readonly PolicyRule[];
  /** @param gate the name of a feature gate */
  enabled(gate: string): boolean;
}

/** @returns an authorizer that has no opinion on users that are not nodes */
export function nodeAuthorizer(relations: NodeRelations, options: NodeAuthorizerOptions): Authorizer {
  return (request) => {
    const node = nodeIdentity(request.user);
    if (node === undefined) return noOpinion;
    if (node === "") return noOpinionBecause(`unknown node for user ${quoteGo(request.user.name)}`);
    const check = request.isResourceRequest ? checks[`${request.group}/${request.resource}`] : undefined;
    const decided = check?.({ node, request, relations, options });
    if (decided !== undefined) return decided;
    return options.rules.some((rule) => ruleAllows(rule, request)) ? allow : noOpinion;
  };
}

interface NodeRequest {
  readonly node: string;
  readonly request: AuthorizationAttributes;
  readonly relations: NodeRelations;
  readonly options: NodeAuthorizerOptions;
}

/**
 * The checks by group and resource. A check that returns undefined leaves the decision to the
 * rules.
 */
const checks: Readonly<Record<string, (each: NodeRequest) => Decision | undefined>> = {
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

function noOpinionBecause(reason: string): Decision {
  return { decision: "noOpinion", reason };
}

function related({ node, request, relations }: NodeRequest, kind: RelatedKind): Decision {
  if (request.name === "") return noOpinionBecause("No Object name found");
  if (relations.areRelated(node, kind, request.namespace, request.name)) return allow;
  return noOpinionBecause(`no relationship found between node '${node}' and this object`);
}

const isOneOf = (verb: string, ...verbs: readonly string[]): boolean => verbs.includes(verb);

function readNamespaced(each: NodeRequest, kind: RelatedKind): Decision {
  const { verb, subresource, namespace } = each.request;
  if (!isOneOf(verb, "get", "list", "watch")) return noOpinionBecause("can only read resources of this type");
  if (subresource !== "") return noOpinionBecause("cannot read subresource");
  return namespace === "" ? noOpinionBecause("can only read namespaced object of this type") : related(each, kind);
}

function getOne(each: NodeRequest, kind: RelatedKind): Decision {
  if (each.request.verb !== "get") return noOpinionBecause("can only get individual resources of this type");
  return each.request.subresource === "" ? related(each, kind) : noOpinionBecause("cannot get subresource");
}

function updateStatus(each: NodeRequest, kind: RelatedKind): Decision {
  return isOneOf(each.request.verb, "update", "patch")
    ? related(each, kind)
    : noOpinionBecause("can only get/update/patch this type");
}

function serviceAccounts(each: NodeRequest): Decision {
  const { verb, subresource, name } = each.request;
  if (verb === "get" && subresource === "") {
    const { enabled } = each.options;
    if (!enabled("KubeletServiceAccountTokenForCredentialProviders") && !enabled("PodCertificateRequest")) {
      return noOpinionBecause("not allowed to get service accounts");
    }
    return readNamespaced(each, "serviceaccount");
  }
  if (verb !== "create" || name === "")
    return noOpinionBecause("can only create tokens for individual service accounts");
  return subresource === "token"
    ? related(each, "serviceaccount")
    : noOpinionBecause("can only create token subresource of serviceaccount");
}

const ownVerbs = ["get", "create", "update", "patch", "delete"] as const;

function leases({ node, request: { verb, namespace, name } }: NodeRequest): Decision {
  if (!isOneOf(verb, ...ownVerbs))
    return noOpinionBecause("can only get, create, update, patch, or delete a node lease");
  if (namespace !== "kube-node-lease")
    return noOpinionBecause('can only access leases in the "kube-node-lease" system namespace');
  return verb === "create" || name === node
    ? allow
    : noOpinionBecause("can only access node lease with the same name as the requesting node");
}

function csiNodes({ node, request: { verb, subresource, name } }: NodeRequest): Decision {
  if (!isOneOf(verb, ...ownVerbs)) return noOpinionBecause("can only get, create, update, patch, or delete a CSINode");
  if (subresource !== "") return noOpinionBecause("cannot authorize CSINode subresources");
  return verb === "create" || name === node
    ? allow
    : noOpinionBecause("can only access CSINode with the same name as the requesting node");
}

function resourceSlices(each: NodeRequest): Decision {
  const { verb, subresource } = each.request;
  if (subresource !== "") return noOpinionBecause("cannot authorize ResourceSlice subresources");
  if (verb === "create") return allow;
  if (isOneOf(verb, "get", "update", "patch", "delete")) return related(each, "resourceslice");
  if (!isOneOf(verb, "watch", "list", "deletecollection")) {
    return noOpinionBecause(
      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
    );
  }
  if (!each.options.enabled("AuthorizeNodeWithSelectors") || selectsOwn(each, "spec.nodeName")) return allow;
  return noOpinionBecause("can only list/watch/deletecollection resourceslices with nodeName field selector");
}

function certificateRequests(each: NodeRequest): Decision {
  const { verb, subresource } = each.request;
  if (subresource !== "")
    return noOpinionBecause("nodes may not access the status subresource of PodCertificateRequests");
  if (verb === "create") return allow;
  if (verb === "get") return related(each, "podcertificaterequest");
  if (!isOneOf(verb, "list", "watch")) return noOpinionBecause(`nodes may not ${verb} podcertificaterequests`);
  return selectsOwn(each, "spec.nodeName")
    ? allow
    : noOpinionBecause("can only list/watch podcertificaterequests with nodeName field selector");
}

function nodes({ node, request: { verb, subresource, name } }: NodeRequest): Decision {
  if (subresource === "status") return isOneOf(verb, "update", "patch") ? allow : noOpinion;
  if (subresource !== "") return noOpinion;
  if (isOneOf(verb, "create", "update", "patch")) return allow; // The plugin NodeRestriction checks the name.
  if (!isOneOf(verb, "get", "list", "watch")) return noOpinion;
  if (name === node) return allow; // Also when the object does not exist yet.
  if (name === "") return noOpinionBecause(`node '${node}' cannot read all nodes, only its own Node object`);
  return noOpinionBecause(`node '${node}' cannot read '${name}', only its own Node object`);
}

function pods(each: NodeRequest): Decision {
  const { verb, subresource, name } = each.request;
  if (subresource === "status") return isOneOf(verb, "update", "patch") ? allow : noOpinion;
  if (subresource === "eviction") return verb === "create" ? allow : noOpinion;
  if (subresource !== "") return noOpinion;
  if (verb === "get") return getOne(each, "pod");
  if (isOneOf(verb, "list", "watch")) {
    if (selectsOwn(each, "spec.nodeName")) return allow;
    return name === ""
      ? noOpinionBecause("can only list/watch pods with spec.nodeName field selector")
      : related(each, "pod");
  }
  return isOneOf(verb, "create", "delete") ? allow : noOpinion; // The plugin NodeRestriction checks the name.
}

/** @returns whether the field selector restricts the request to objects of the node */
function selectsOwn({ node, request }: NodeRequest, field: string): boolean {
  if (request.fieldSelector === "") return false;
  try {
    return requiresExactMatch(parseFieldSelector(request.fieldSelector), field) === node;
  } catch (error) {
    if (error instanceof SelectorError) return false;
    throw error;
  }
}
