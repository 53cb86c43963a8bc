/**
 * Conversions between the versions of built-in kinds. Versions that are not listed differ from the storage version only
 * in their apiVersion. Sources: `defaults.go` and `conversion.go` of each version in `k8s.io/kubernetes@v1.36.0/pkg/apis`.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Conversion, StoredConversion } from "../catalog/contract.ts";
import { cloneJson } from "../lib/json/values.ts";
import { webhooksV1beta1 } from "./admissionregistration/kinds.ts";
import { definitionV1beta1 } from "./apiextensions/stored-versions.ts";
import { extensionsDaemonSet } from "./apps/daemon-set.ts";
import { deploymentV1beta1, extensionsDeployment } from "./apps/deployment.ts";
import { horizontalPodAutoscalerV1 } from "./autoscaling/conversion.ts";
import { eventConversion } from "./core/event/event.ts";
import { endpointSliceV1beta1 } from "./discovery/endpoint-slice.ts";
import { items, type Part, setAbsent, struct } from "./fields.ts";
import { priorityLevelV1beta1 } from "./flowcontrol/priority-level.ts";
import { ingressV1beta1 } from "./networking/ingress.ts";
import { runtimeClassV1alpha1 } from "./node/runtime-class.ts";
import { disruptionBudgetV1beta1 } from "./policy/pod-disruption-budget.ts";
import { bindingV1alpha1 } from "./rbac/kinds.ts";
import { resourceClaimTemplateV1beta1, resourceClaimV1beta1, resourceSliceV1beta1 } from "./resource/v1beta1.ts";

/** Of versions that are served, by `group/resource/version`. */
export const builtinConversions: Readonly<Record<string, Conversion>> = {
  "autoscaling/horizontalpodautoscalers/v1": horizontalPodAutoscalerV1,
  "events.k8s.io/events/v1": eventConversion,
  "resource.k8s.io/resourceclaims/v1beta1": resourceClaimV1beta1,
  "resource.k8s.io/resourceclaimtemplates/v1beta1": resourceClaimTemplateV1beta1,
  "resource.k8s.io/resourceslices/v1beta1": resourceSliceV1beta1,
};

/** The version has no default for the scope of parameters, or for inline volumes. */
const withoutDefaults: StoredConversion = { toStorage: (object) => object, setsAllDefaults: true };

/**
 * A version that has other defaults.
 * @param defaults values of absent fields, by the path of their struct, which is created. A step `conditions[]` means
 *   each item of a list, and `paramRef?` a struct that is not created
 */
function defaulting(defaults: Readonly<Record<string, Part>>): StoredConversion {
  return {
    toStorage(object) {
      for (const [path, values] of Object.entries(defaults))
        for (const part of partsAt(object, path)) setAbsent(part, cloneJson(values));
      return object;
    },
  };
}

function partsAt(object: KubeObject, path: string): Part[] {
  return path.split(".").reduce<Part[]>(
    (parts, step) => {
      if (step.endsWith("[]")) return parts.flatMap((part) => items(part[step.slice(0, -2)]));
      if (step.endsWith("?")) return parts.flatMap((part) => part[step.slice(0, -1)] ?? []);
      return parts.map((part) => struct(part, step));
    },
    [object],
  );
}

/** Of versions that are only stored, by the kind of storage, and then by apiVersion. */
export const storedConversions: Readonly<Record<string, Readonly<Record<string, StoredConversion>>>> = {
  CertificateSigningRequest: {
    "certificates.k8s.io/v1beta1": defaulting({
      // Since Kubernetes 1.18, requests are stored with the name that upstream would derive here.
      spec: { usages: ["digital signature", "key encipherment"], signerName: "kubernetes.io/legacy-unknown" },
      "status?.conditions[]": { status: "True" },
    }),
  },
  ClusterRoleBinding: { "rbac.authorization.k8s.io/v1alpha1": bindingV1alpha1 },
  CustomResourceDefinition: { "apiextensions.k8s.io/v1beta1": definitionV1beta1 },
  DaemonSet: { "extensions/v1beta1": extensionsDaemonSet },
  Deployment: { "apps/v1beta1": deploymentV1beta1, "extensions/v1beta1": extensionsDeployment },
  EndpointSlice: { "discovery.k8s.io/v1beta1": endpointSliceV1beta1 },
  Event: { "events.k8s.io/v1": eventConversion, "events.k8s.io/v1beta1": eventConversion },
  Ingress: { "extensions/v1beta1": ingressV1beta1, "networking.k8s.io/v1beta1": ingressV1beta1 },
  IngressClass: { "networking.k8s.io/v1beta1": withoutDefaults },
  MutatingWebhookConfiguration: { "admissionregistration.k8s.io/v1beta1": webhooksV1beta1 },
  PodDisruptionBudget: { "policy/v1beta1": disruptionBudgetV1beta1 },
  PriorityLevelConfiguration: {
    "flowcontrol.apiserver.k8s.io/v1beta1": priorityLevelV1beta1,
    "flowcontrol.apiserver.k8s.io/v1beta2": priorityLevelV1beta1,
  },
  RoleBinding: { "rbac.authorization.k8s.io/v1alpha1": bindingV1alpha1 },
  RuntimeClass: { "node.k8s.io/v1alpha1": runtimeClassV1alpha1 },
  StatefulSet: { "apps/v1beta1": defaulting({ "spec.updateStrategy": { type: "OnDelete" } }) },
  ValidatingAdmissionPolicyBinding: {
    "admissionregistration.k8s.io/v1alpha1": defaulting({ "spec?.paramRef?": { parameterNotFoundAction: "Deny" } }),
  },
  ValidatingWebhookConfiguration: { "admissionregistration.k8s.io/v1beta1": webhooksV1beta1 },
  VolumeAttachment: { "storage.k8s.io/v1alpha1": withoutDefaults },
};
