/** The plugin PodSecurity with defaults and exemptions of a configuration. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { core, type Family, namespace, request } from "./builders.ts";
import {
  createController,
  createPod,
  disabled,
  labeled,
  labels,
  patch,
  plainPod,
  podWith,
  relabel,
  restrictedPod,
  tryPod,
} from "./pod-security-pods.ts";

const configuration: Sent = {
  apiVersion: "pod-security.admission.config.k8s.io/v1",
  kind: "PodSecurityConfiguration",
  defaults: {
    enforce: "baseline",
    "enforce-version": "v1.30",
    audit: "restricted",
    warn: "restricted",
    "warn-version": "v1.24",
  },
  exemptions: {
    usernames: ["exempt-user", "system:serviceaccount:work:robot"],
    namespaces: ["exempt", "kube-system"],
    runtimeClasses: ["exempt-class", "other-class"],
  },
};

const scenario = (name: string, setup: readonly SetupStep[], requests: readonly AdmissionRequest[]): Scenario => ({
  name,
  setup,
  answers: {},
  requests,
});

const withClass = (pod: Sent, runtimeClassName: string): Sent => ({ ...pod, spec: { ...pod.spec, runtimeClassName } });
const pods: readonly (readonly [name: string, pod: Sent])[] = [
  ["privileged", podWith(["privileged"])],
  ["plain", plainPod()],
  ["restricted", restrictedPod()],
  ["exempt-class", withClass(podWith(["privileged"]), "exempt-class")],
  ["class", withClass(podWith(["privileged"]), "class")],
];
const inNamespace = (ns: string): readonly AdmissionRequest[] => [
  ...pods.map(([name, pod]) => tryPod(ns, name, pod)),
  ...pods.map(([name, pod]) => createController(ns, "deployments", name, pod, "?dryRun=All")),
];
const asUser = (name: string, requests: readonly AdmissionRequest[]): readonly AdmissionRequest[] =>
  requests.map((one) => ({ ...one, user: [name, "system:masters"] as const }));

const namespaces: readonly (readonly [name: string, values: Readonly<Record<string, string>>])[] = [
  ["unlabeled", {}],
  ["privileged", { enforce: "privileged", audit: "privileged", warn: "privileged" }],
  ["enforced", { enforce: "privileged" }],
  ["stricter", { enforce: "restricted" }],
  ["versions", { "enforce-version": "v1.20", "audit-version": "v1.20", "warn-version": "latest" }],
];

const defaults: Scenario = scenario(
  "defaults",
  namespaces.map(([name, values]) => labeled(name, values)),
  namespaces.flatMap(([name]) => inNamespace(name)),
);

const exemptPod = core("exempt", "pods", "old");
const exemptions: Scenario = scenario(
  "exemptions",
  [namespace("exempt"), namespace("work")],
  [
    ...inNamespace("exempt"),
    ...inNamespace("kube-system"),
    ...asUser("exempt-user", inNamespace("work")),
    ...asUser("system:serviceaccount:work:robot", inNamespace("work")),
    ...asUser("exempt-user", [tryPod("exempt", "a", plainPod())]),
    createPod("exempt", "old", podWith(["privileged"])),
    patch(exemptPod, { spec: { containers: [{ name: "main", image: "other" }] } }),
    patch(exemptPod, { metadata: { labels: { a: "b" } } }),
    patch(`${exemptPod}/status`, { status: { phase: "Running" } }, "merge-patch"),
    ...asUser("exempt-user", [
      createPod("work", "old", podWith(["privileged"])),
      patch(core("work", "pods", "old"), { spec: { containers: [{ name: "main", image: "other" }] } }),
    ]),
    patch(core("work", "pods", "old"), { spec: { containers: [{ name: "main", image: "another" }] } }),
    patch(core("work", "pods", "old"), { metadata: { labels: { a: "b" } } }),
    createPod("work", "classed", withClass(podWith(["privileged"]), "exempt-class")),
    patch(core("work", "pods", "classed"), { spec: { containers: [{ name: "main", image: "other" }] } }),
  ],
);

const relabels: readonly Readonly<Record<string, string | null>>[] = [
  { enforce: "restricted" },
  { enforce: "restricted", audit: "baseline", "audit-version": "v1.20" },
  { warn: "baseline" },
  { enforce: "privileged" },
  { enforce: "baseline", "enforce-version": "v1.30" },
  { "enforce-version": "v1.35" },
  { enforce: null, "enforce-version": null, audit: null, "audit-version": null, warn: null },
  { "warn-version": "v1.10", "enforce-version": "v1.10" },
  { enforce: "strict" },
];

/** Labels of exempt namespaces, and of one with existing pods. */
const namespaceLabels: Scenario = scenario(
  "namespace-labels",
  [namespace("exempt"), namespace("other")],
  [
    request("DELETE /api/v1/namespaces/exempt"),
    request("POST /api/v1/namespaces", {
      metadata: { name: "kube-system", labels: labels({ enforce: "restricted" }) },
    }),
    ...relabels.map((values) => relabel("kube-system", values)),
    ...asUser("exempt-user", [createPod("other", "a", podWith(["privileged"])), createPod("other", "b", plainPod())]),
    createPod("other", "c", withClass(podWith(["host-all"]), "exempt-class")),
    createPod("other", "d", withClass(podWith(["host-all"]), "other-class")),
    ...relabels.map((values) => relabel("other", values)),
    ...asUser("exempt-user", [relabel("other", { enforce: "restricted", "enforce-version": "latest" })]),
  ],
);

/** A created namespace warns if its labels have no effect. */
const createdExempt: Scenario = scenario(
  "created-exempt",
  [],
  [
    {},
    { enforce: "restricted" },
    { enforce: "privileged", warn: "baseline", "warn-version": "v1.20" },
    { enforce: "privileged", audit: "privileged", warn: "privileged" },
    { enforce: "baseline", "enforce-version": "v1.30" },
    { warn: "x" },
    { "enforce-version": "v1.20" },
  ].map((values) =>
    request("POST /api/v1/namespaces?dryRun=All", {
      metadata: { name: "exempt", labels: labels(values as Record<string, string>) },
    }),
  ),
);

export const podSecurityConfiguration: Family = {
  plugins: { disable: disabled, configurations: { PodSecurity: configuration } },
  setup: [],
  scenarios: [createdExempt, defaults, exemptions, namespaceLabels],
};
