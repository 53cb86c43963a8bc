/**
 * Types of variables that do not come from a schema. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/compile.go, pkg/authentication/cel/compile.go
 * and pkg/authorization/cel/compile.go
 */
import { anyType } from "../lib/cel/index.ts";
import {
  boolDecl,
  dynDecl,
  intDecl,
  listDecl,
  mapDecl,
  objectDecl,
  scalarDecl,
  stringDecl,
  timestampDecl,
} from "../lib/cel/schema-types/index.ts";

const strings = listDecl(stringDecl);
const labels = mapDecl(stringDecl);
const extra = mapDecl(strings);

/** `user` in authentication configuration, and `request.userInfo` in admission. */
export const userInfoDecl = objectDecl("kubernetes.UserInfo", {
  username: stringDecl,
  uid: stringDecl,
  groups: strings,
  extra,
});

/** `claims` in authentication configuration. */
export const claimsDecl = mapDecl(scalarDecl(anyType, 1));

const kindDecl = objectDecl("kubernetes.GroupVersionKind", {
  group: stringDecl,
  version: stringDecl,
  kind: stringDecl,
});
const resourceDecl = objectDecl("kubernetes.GroupVersionResource", {
  group: stringDecl,
  version: stringDecl,
  resource: stringDecl,
});

/** `request` in admission. */
export const admissionRequestDecl = objectDecl("kubernetes.AdmissionRequest", {
  kind: kindDecl,
  resource: resourceDecl,
  subResource: stringDecl,
  requestKind: kindDecl,
  requestResource: resourceDecl,
  requestSubResource: stringDecl,
  name: stringDecl,
  namespace: stringDecl,
  operation: stringDecl,
  userInfo: userInfoDecl,
  dryRun: boolDecl,
  options: dynDecl,
});

const namespaceMetadataDecl = objectDecl("kubernetes.NamespaceMetadata", {
  name: stringDecl,
  generateName: stringDecl,
  namespace: stringDecl,
  labels,
  annotations: labels,
  UID: stringDecl,
  creationTimestamp: timestampDecl,
  deletionGracePeriodSeconds: intDecl,
  deletionTimestamp: timestampDecl,
  generation: intDecl,
  resourceVersion: stringDecl,
  finalizers: strings,
});

const namespaceConditionDecl = objectDecl("kubernetes.NamespaceCondition", {
  status: stringDecl,
  type: stringDecl,
  lastTransitionTime: timestampDecl,
  message: stringDecl,
  reason: stringDecl,
});

/** `namespaceObject` in admission. */
export const namespaceDecl = objectDecl("kubernetes.Namespace", {
  metadata: namespaceMetadataDecl,
  spec: objectDecl("kubernetes.NamespaceSpec", { finalizers: strings }),
  status: objectDecl("kubernetes.NamespaceStatus", { conditions: listDecl(namespaceConditionDecl), phase: stringDecl }),
});

const requirementDecl = objectDecl("kubernetes.SelectorRequirement", {
  key: stringDecl,
  operator: stringDecl,
  values: strings,
});
const selectorFields = { rawSelector: stringDecl, requirements: listDecl(requirementDecl) };

/** `request` in authorization configuration. */
export const subjectAccessReviewDecl = objectDecl("kubernetes.SubjectAccessReviewSpec", {
  resourceAttributes: objectDecl("kubernetes.ResourceAttributes", {
    namespace: stringDecl,
    verb: stringDecl,
    group: stringDecl,
    version: stringDecl,
    resource: stringDecl,
    subresource: stringDecl,
    name: stringDecl,
    fieldSelector: objectDecl("kubernetes.FieldSelectorAttributes", selectorFields),
    labelSelector: objectDecl("kubernetes.LabelSelectorAttributes", selectorFields),
  }),
  nonResourceAttributes: objectDecl("kubernetes.NonResourceAttributes", { path: stringDecl, verb: stringDecl }),
  user: stringDecl,
  groups: strings,
  extra,
  uid: stringDecl,
});
