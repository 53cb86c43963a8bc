/**
 * What `request` and `namespaceObject` are in policies and match conditions. Source: k8s.io/apiserver pkg/admission/plugin/cel/condition.go
 * (CreateAdmissionRequest, CreateNamespaceObject)
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { JsonValue } from "../lib/cel/index.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface RequestAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** As the client asked, where the policy is written for another version. */
  readonly requestKind: GroupVersionKind;
  readonly requestResource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the request, such as CreateOptions, with their kind. */
  readonly options: JsonValue;
}

/** What is empty is left out, but for the group of kinds and resources. The object is not in it: it is a variable of its own. */
export function requestValue(attributes: RequestAttributes): JsonValue {
  const {
    operation,
    kind,
    resource,
    requestKind,
    requestResource,
    subresource,
    namespace,
    name,
    user,
    dryRun,
    options,
  } = attributes;
  return {
    uid: "",
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    ...(subresource !== "" && { subResource: subresource, requestSubResource: subresource }),
    requestKind: { group: requestKind.group, version: requestKind.version, kind: requestKind.kind },
    requestResource: {
      group: requestResource.group,
      version: requestResource.version,
      resource: requestResource.resource,
    },
    ...(name !== "" && { name }),
    ...(namespace !== "" && { namespace }),
    operation,
    userInfo: userValue(user),
    object: null,
    oldObject: null,
    dryRun,
    options,
  };
}

function userValue({ name, uid, groups, extra }: UserInfo): JsonValue {
  const extras = Object.fromEntries(extra);
  return {
    ...(name !== "" && { username: name }),
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extras).length > 0 && { extra: extras }),
  };
}

const namespaceMetadata = [
  ...[
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
  ],
  ...["deletionGracePeriodSeconds", "labels", "annotations", "finalizers"],
];

/** A namespace, without what says who owns and manages it. */
export function namespaceValue(namespace: KubeObject): JsonValue {
  const metadata = namespace.metadata as { readonly [key: string]: JsonValue };
  const kept = namespaceMetadata
    .filter((key) => metadata[key] !== undefined)
    .map((key) => [key, metadata[key] as JsonValue]);
  const { spec = {}, status = {} } = namespace as { readonly spec?: JsonValue; readonly status?: JsonValue };
  return { metadata: Object.fromEntries(kept), spec, status };
}
