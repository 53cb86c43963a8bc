/**
 * The values of `request` and `namespaceObject` in policies and match conditions. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/condition.go, CreateAdmissionRequest and
 * CreateNamespaceObject
 */
import type { GroupVersionKind, GroupVersionResource, KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { JsonValue } from "../lib/cel/index.ts";

/** The attributes of an admission request. */
export interface RequestAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  /** Of the client's request; it differs from `kind` if the policy matches another version. */
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

/**
 * Returns the value of `request`, without empty fields except the group of kinds and resources. The
 * object is a separate variable.
 */
export function requestValue(attributes: RequestAttributes): JsonValue {
  const { kind, resource, requestKind, requestResource, subresource, namespace, name } = attributes;
  const value: Record<string, JsonValue> = {
    uid: "",
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource: { group: resource.group, version: resource.version, resource: resource.resource },
    requestKind: { group: requestKind.group, version: requestKind.version, kind: requestKind.kind },
    requestResource: {
      group: requestResource.group,
      version: requestResource.version,
      resource: requestResource.resource,
    },
    operation: attributes.operation,
    userInfo: userValue(attributes.user),
    object: null,
    oldObject: null,
    dryRun: attributes.dryRun,
    options: attributes.options,
  };
  if (subresource !== "") {
    value.subResource = subresource;
    value.requestSubResource = subresource;
  }
  if (name !== "") value.name = name;
  if (namespace !== "") value.namespace = namespace;
  return value;
}

function userValue({ name, uid, groups, extra }: UserInfo): JsonValue {
  const value: Record<string, JsonValue> = {};
  if (name !== "") value.username = name;
  if (uid !== "") value.uid = uid;
  if (groups.length > 0) value.groups = groups;
  if (extra.size > 0) value.extra = Object.fromEntries(extra);
  return value;
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

/**
 * Returns the value of `namespaceObject`: a namespace without ownerReferences and managedFields.
 */
export function namespaceValue(namespace: KubeObject): JsonValue {
  const metadata = namespace.metadata as { readonly [key: string]: JsonValue };
  const kept = namespaceMetadata
    .filter((key) => metadata[key] !== undefined)
    .map((key) => [key, metadata[key] as JsonValue]);
  const { spec = {}, status = {} } = namespace as { readonly spec?: JsonValue; readonly status?: JsonValue };
  return { metadata: Object.fromEntries(kept), spec, status };
}
