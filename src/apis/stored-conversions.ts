/**
 * Conversions from versions that are only stored, by kind and apiVersion. Versions that are not
 * listed differ from the storage version only in their apiVersion. Sources: `defaults.go` and
 * `conversion.go` of each version in `k8s.io/kubernetes@v1.36.0/pkg/apis`.
 */
import { parseGroupVersion } from "../apimachinery/object.ts";
import type { StoredConversion } from "../catalog/contract.ts";
import { definitionV1beta1 } from "./apiextensions/stored-versions.ts";
import {
  deploymentV1beta1,
  extensionsDaemonSet,
  extensionsDeployment,
  statefulSetV1beta1,
} from "./apps/stored-versions.ts";
import { eventConversion } from "./core/event/event.ts";
import { items, type Part, setAbsent, struct } from "./fields.ts";
import { ingressClassV1beta1, ingressV1beta1 } from "./networking/stored-versions.ts";

const webhooksV1beta1: StoredConversion = {
  toStorage(object) {
    for (const webhook of items(object.webhooks)) {
      setAbsent(webhook, { failurePolicy: "Ignore", matchPolicy: "Exact", sideEffects: "Unknown", timeoutSeconds: 30 });
      if (items(webhook.admissionReviewVersions).length === 0) webhook.admissionReviewVersions = ["v1beta1"];
    }
    return object;
  },
};

const policyBindingV1alpha1: StoredConversion = {
  toStorage(object) {
    const { paramRef } = object.spec ?? {};
    if (paramRef) setAbsent(paramRef, { parameterNotFoundAction: "Deny" });
    return object;
  },
};

const signingRequestV1beta1: StoredConversion = {
  toStorage(object) {
    const spec = struct(object, "spec");
    spec.usages ??= ["digital signature", "key encipherment"];
    // Since Kubernetes 1.18, requests are stored with the name that upstream would derive here.
    setAbsent(spec, { signerName: "kubernetes.io/legacy-unknown" });
    for (const condition of items(object.status?.conditions)) setAbsent(condition, { status: "True" });
    return object;
  },
};

const zoneLabel = "topology.kubernetes.io/zone";
const hostLabel = "kubernetes.io/hostname";

const endpointSliceV1beta1: StoredConversion = {
  toStorage(object) {
    for (const endpoint of items(object.endpoints)) {
      const { [zoneLabel]: zone, ...topology } = (endpoint.topology ?? {}) as Record<string, string>;
      delete endpoint.topology;
      if (zone !== undefined) endpoint.zone = zone;
      if (endpoint.nodeName !== undefined && topology[hostLabel] === endpoint.nodeName) delete topology[hostLabel];
      if (Object.keys(topology).length > 0) endpoint.deprecatedTopology = topology;
    }
    return object;
  },
};

/** Of flow control, v1beta1 and v1beta2. */
const priorityLevelV1beta1: StoredConversion = {
  toStorage(object) {
    const { limited } = object.spec ?? {};
    if (limited) {
      // An empty value is the default there, but not at v1.
      limited.nominalConcurrencyShares = limited.assuredConcurrencyShares || 30;
      delete limited.assuredConcurrencyShares;
    }
    return object;
  },
};

const runtimeClassV1alpha1: StoredConversion = {
  toStorage(object) {
    const { runtimeHandler: handler, overhead, scheduling } = object.spec ?? {};
    delete object.spec;
    return Object.assign(object, { handler }, overhead && { overhead }, scheduling && { scheduling });
  },
};

const matchNoPodKey = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

const disruptionBudgetV1beta1: StoredConversion = {
  toStorage(object) {
    const { selector } = object.spec ?? {};
    if (selector) object.spec.selector = convertSelector(selector);
    return object;
  },
};

/** The empty selector selects no pods at policy/v1beta1, and all at policy/v1. */
function convertSelector({ matchExpressions, ...selector }: Part): Part {
  const expressions = items(matchExpressions);
  if (expressions.length === 0 && Object.keys(selector.matchLabels ?? {}).length === 0)
    return { matchExpressions: [{ key: matchNoPodKey, operator: "Exists" }] };
  const kept = expressions.filter(({ key }) => key !== matchNoPodKey);
  return { ...selector, ...(kept.length > 0 && { matchExpressions: kept }) };
}

const rbacGroup = "rbac.authorization.k8s.io";

const bindingV1alpha1: StoredConversion = {
  toStorage(object) {
    object.subjects = items(object.subjects).map(convertSubject);
    return object;
  },
};

function convertSubject({ apiVersion = "", kind = "", ...subject }: Part): Part {
  if (kind === "User" && subject.name === "*")
    return { ...subject, kind: "Group", apiGroup: rbacGroup, name: "system:authenticated" };
  if (kind === "User" || kind === "Group") return { ...subject, kind, apiGroup: rbacGroup };
  const apiGroup = kind === "ServiceAccount" ? "" : (parseGroupVersion(apiVersion)?.group ?? "");
  return { ...subject, kind, apiGroup };
}

/** Inline volumes have no defaults. */
const volumeAttachmentV1alpha1: StoredConversion = { toStorage: (object) => object, setsAllDefaults: true };

/** By the kind of storage, and then by apiVersion. */
export const storedConversions: Readonly<Record<string, Readonly<Record<string, StoredConversion>>>> = {
  CertificateSigningRequest: { "certificates.k8s.io/v1beta1": signingRequestV1beta1 },
  ClusterRoleBinding: { "rbac.authorization.k8s.io/v1alpha1": bindingV1alpha1 },
  CustomResourceDefinition: { "apiextensions.k8s.io/v1beta1": definitionV1beta1 },
  DaemonSet: { "extensions/v1beta1": extensionsDaemonSet },
  Deployment: { "apps/v1beta1": deploymentV1beta1, "extensions/v1beta1": extensionsDeployment },
  EndpointSlice: { "discovery.k8s.io/v1beta1": endpointSliceV1beta1 },
  Event: { "events.k8s.io/v1": eventConversion, "events.k8s.io/v1beta1": eventConversion },
  Ingress: { "extensions/v1beta1": ingressV1beta1, "networking.k8s.io/v1beta1": ingressV1beta1 },
  IngressClass: { "networking.k8s.io/v1beta1": ingressClassV1beta1 },
  MutatingWebhookConfiguration: { "admissionregistration.k8s.io/v1beta1": webhooksV1beta1 },
  PodDisruptionBudget: { "policy/v1beta1": disruptionBudgetV1beta1 },
  PriorityLevelConfiguration: {
    "flowcontrol.apiserver.k8s.io/v1beta1": priorityLevelV1beta1,
    "flowcontrol.apiserver.k8s.io/v1beta2": priorityLevelV1beta1,
  },
  RoleBinding: { "rbac.authorization.k8s.io/v1alpha1": bindingV1alpha1 },
  RuntimeClass: { "node.k8s.io/v1alpha1": runtimeClassV1alpha1 },
  StatefulSet: { "apps/v1beta1": statefulSetV1beta1 },
  ValidatingAdmissionPolicyBinding: { "admissionregistration.k8s.io/v1alpha1": policyBindingV1alpha1 },
  ValidatingWebhookConfiguration: { "admissionregistration.k8s.io/v1beta1": webhooksV1beta1 },
  VolumeAttachment: { "storage.k8s.io/v1alpha1": volumeAttachmentV1alpha1 },
};
