/** The plugin PodSecurity without a configuration. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { core, type Family, request } from "./builders.ts";
import {
  changes,
  controllerPath,
  controllers,
  createController,
  createPod,
  disabled,
  labeled,
  labels,
  manyContainers,
  patch,
  plainPod,
  podWith,
  relabel,
  restrictedPod,
  tryPod,
} from "./pod-security-pods.ts";

const scenario = (name: string, setup: readonly SetupStep[], requests: readonly AdmissionRequest[]): Scenario => ({
  name,
  setup,
  answers: {},
  requests,
});

const changeNames = Object.keys(changes);
const levels = ["privileged", "baseline", "restricted"];

/** Every change at the newest version of a level. */
const checks = (level: string): Scenario => {
  const ns = `checks-${level}`;
  const pods = changeNames.map((name) => tryPod(ns, name, podWith([name])));
  return scenario(
    ns,
    [labeled(ns, { enforce: level })],
    [tryPod(ns, "plain", plainPod()), tryPod(ns, "restricted", restrictedPod()), ...pods],
  );
};

const versions = [
  "v1.0",
  "v1.8",
  "v1.18",
  "v1.19",
  "v1.22",
  "v1.23",
  "v1.25",
  "v1.27",
  "v1.31",
  "v1.32",
  "v1.34",
  "v1.35",
  "v1.36",
  "v1.99",
  "latest",
];
const versionChanges = [
  "proc-mount-user-namespace",
  "selinux-engine",
  "sysctls",
  "probe-host",
  "windows",
  "user-root-user-namespace",
];

/** What versions change. */
const atVersion = (version: string): Scenario => {
  const ns = `version-${version.replace(".", "-")}`;
  const pods = versionChanges.map((name) => tryPod(ns, name, podWith([name])));
  return scenario(
    ns,
    [labeled(ns, { enforce: "restricted", "enforce-version": version })],
    [tryPod(ns, "plain", plainPod()), ...pods],
  );
};

/** Each combination of levels, as a pod that violates both standards, and one that violates `restricted`. */
const modes: Scenario = scenario(
  "modes",
  [],
  levels.flatMap((enforce) =>
    levels.flatMap((audit) =>
      levels.flatMap((warn) => {
        const ns = `modes-${enforce}-${audit}-${warn}`;
        const version: Readonly<Record<string, string>> =
          warn === "baseline" ? { "warn-version": "v1.20", "audit-version": "v1.24" } : {};
        return [
          request("POST /api/v1/namespaces", {
            metadata: { name: ns, labels: labels({ enforce, audit, warn, ...version }) },
          }),
          tryPod(ns, "privileged", podWith(["privileged"])),
          tryPod(ns, "plain", plainPod()),
        ];
      }),
    ),
  ),
);

/** Only some labels: a stricter `enforce` also warns. */
const someLabels: readonly Readonly<Record<string, string>>[] = [
  {},
  { enforce: "restricted", "enforce-version": "v1.20" },
  { enforce: "baseline", "warn-version": "v1.20" },
  { warn: "baseline", enforce: "privileged" },
  { audit: "restricted" },
  { "enforce-version": "v1.20", "warn-version": "v1.20" },
];
const partialLabels: Scenario = scenario(
  "partial-labels",
  someLabels.map((values, index) => labeled(`partial-${index}`, values)),
  someLabels.flatMap((_, index) => [
    tryPod(`partial-${index}`, "privileged", podWith(["privileged"])),
    createController(`partial-${index}`, "deployments", "plain", plainPod(), "?dryRun=All"),
  ]),
);

/** Controllers are created and updated. */
const controllerKinds: Scenario = scenario(
  "controllers",
  [
    labeled("controllers", { enforce: "restricted", audit: "baseline", warn: "restricted", "warn-version": "v1.24" }),
    labeled("controllers-enforced", { enforce: "baseline" }),
    labeled("controllers-audited", { audit: "restricted" }),
  ],
  Object.keys(controllers).flatMap((resource) => [
    createController("controllers", resource, "a", podWith(["privileged", "host-all"])),
    createController("controllers", resource, "b", plainPod()),
    createController("controllers", resource, "c", restrictedPod()),
    createController("controllers", resource, "d", podWith(["init", "host-port", "host-path"]), "?dryRun=All"),
    createController("controllers-enforced", resource, "a", podWith(["sysctls", "probe-host"])),
    createController("controllers-audited", resource, "a", podWith(["user-root"])),
    patch(controllerPath("controllers", resource, "a"), { metadata: { labels: { changed: "1" } } }, "merge-patch"),
    patch(controllerPath("controllers", resource, "c"), { metadata: { labels: { changed: "1" } } }, "merge-patch"),
    request(`DELETE ${controllerPath("controllers", resource, "b")}?propagationPolicy=Background`),
  ]),
);

const withoutTemplate: Scenario = scenario(
  "controller-subresources",
  [labeled("scaled", { warn: "restricted", audit: "restricted" })],
  [
    request(`POST ${core("scaled", "replicationcontrollers")}`, {
      metadata: { name: "a" },
      spec: { selector: { app: "a" } },
    }),
    createController("scaled", "deployments", "a", plainPod()),
    patch(`${controllerPath("scaled", "deployments", "a")}/scale`, { spec: { replicas: 3 } }, "merge-patch"),
    patch(`${controllerPath("scaled", "deployments", "a")}/status`, { status: { replicas: 3 } }, "merge-patch"),
    patch(controllerPath("scaled", "deployments", "a"), { spec: { template: restrictedPod() } }, "merge-patch"),
    request(`POST ${core("scaled", "configmaps")}`, { metadata: { name: "a" } }),
  ],
);

/** A pod whose resources can be changed without a change of its quality of service. */
const withCpu = (pod: Sent): Sent => {
  pod.spec.containers[0].resources = { requests: { cpu: "1" } };
  return pod;
};

/** Pods that violate the standard, and updates of them after it is enforced. */
const updates = (ns: string, enforced: Readonly<Record<string, string>>): Scenario => {
  const pod = core(ns, "pods", "old");
  const image = (name: string, value: string): Sent => ({ spec: { containers: [{ name, image: value }] } });
  return scenario(
    ns,
    [labeled(ns, {})],
    [
      createPod(ns, "old", withCpu(podWith(["privileged", "init"]))),
      createPod(ns, "good", restrictedPod()),
      relabel(ns, enforced),
      patch(pod, { metadata: { labels: { a: "b" }, annotations: { a: "b" } } }),
      patch(pod, {
        metadata: { annotations: { "container.apparmor.security.beta.kubernetes.io/main": "unconfined" } },
      }),
      patch(pod, { spec: { activeDeadlineSeconds: 100 } }),
      patch(pod, image("main", "registry.example.com/main:2")),
      patch(`${pod}?dryRun=All`, image("main", "registry.example.com/main:2")),
      patch(pod, image("main", "registry.example.com/main:1")),
      patch(pod, [{ op: "replace", path: "/spec/initContainers/0/image", value: "other" }], "json-patch"),
      patch(core(ns, "pods", "good"), image("side", "registry.example.com/side:2")),
      patch(`${pod}/status`, { status: { phase: "Running" } }, "merge-patch"),
      patch(`${pod}/resize`, { spec: { containers: [{ name: "main", resources: { requests: { cpu: "2" } } }] } }),
      patch(`${core(ns, "pods", "good")}/ephemeralcontainers`, {
        spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] },
      }),
      patch(`${core(ns, "pods", "good")}/ephemeralcontainers`, {
        spec: {
          ephemeralContainers: [
            {
              name: "good",
              image: "busybox",
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
            },
          ],
        },
      }),
      patch(`${pod}/ephemeralcontainers`, { spec: { ephemeralContainers: [{ name: "debug", image: "busybox" }] } }),
      request(`POST ${core(ns, "pods", "good")}/binding`, {
        metadata: { name: "good" },
        target: { kind: "Node", name: "node" },
      }),
      request(`POST ${core(ns, "pods", "good")}/eviction`, { metadata: { name: "good" } }),
      request(`POST ${core(ns, "pods")}?dryRun=All`, { ...plainPod(), metadata: { generateName: "generated-" } }),
      request(
        `PATCH ${core(ns, "pods", "applied")}?fieldManager=applier`,
        { apiVersion: "v1", kind: "Pod", ...plainPod(), metadata: { name: "applied" } },
        "application/apply-patch+yaml",
      ),
      request(`DELETE ${pod}?gracePeriodSeconds=0`),
    ],
  );
};

const invalidLabels: readonly Readonly<Record<string, string>>[] = [
  { enforce: "strict" },
  { enforce: "" },
  { enforce: "Baseline", "enforce-version": "1.2" },
  { audit: "x", warn: "y" },
  { "audit-version": "v2.0", "warn-version": "v1" },
  { "enforce-version": "v1.01" },
  { "enforce-version": "v1.9223372036854775807" },
  { "enforce-version": "v1.9223372036854775808" },
  { "enforce-version": "v1.-1", warn: "restricted" },
  { "enforce-version": "latest", enforce: "restricted" },
  { "enforce-version": "Latest" },
];

/** Creates and updates of namespaces; labels that no plugin checks come through the status. */
const namespaceLabels: Scenario = scenario(
  "namespace-labels",
  [labeled("relabeled", {}), labeled("invalid", {})],
  [
    ...invalidLabels.flatMap((values, index) => [
      request("POST /api/v1/namespaces", { metadata: { name: `invalid-${index}`, labels: labels(values) } }),
      relabel("relabeled", values),
    ]),
    relabel("invalid", { enforce: "strict", "enforce-version": "1.2", audit: "x", warn: "y" }),
    patch(
      "/api/v1/namespaces/invalid/status",
      { metadata: { labels: labels({ enforce: "strict", "enforce-version": "1.2", audit: "x", warn: "y" }) } },
      "merge-patch",
    ),
    tryPod("invalid", "plain", plainPod()),
    tryPod("invalid", "restricted", restrictedPod()),
    createController("invalid", "deployments", "plain", plainPod(), "?dryRun=All"),
    patch("/api/v1/namespaces/invalid", { metadata: { labels: { other: "label" } } }, "merge-patch"),
    relabel("invalid", { warn: "z" }),
    relabel("invalid", { warn: null }),
    relabel("invalid", { warn: "restricted", enforce: null }),
    tryPod("invalid", "plain", plainPod()),
    relabel("invalid", { "enforce-version": null, audit: null }),
    tryPod("invalid", "plain", plainPod()),
  ],
);

const owned = (name: string, uid: string, pod: Sent): Sent => ({
  ...pod,
  metadata: {
    ...pod.metadata,
    name,
    ownerReferences: [
      {
        apiVersion: "apps/v1",
        kind: "ReplicaSet",
        name: `set-${uid}`,
        uid: `00000000-0000-0000-0000-00000000000${uid}`,
        controller: true,
      },
    ],
  },
});

const existing: readonly Sent[] = [
  ...["web-1", "web-2", "web-3"].map((name) => owned(name, "1", plainPod())),
  ...["db-2", "db-1"].map((name) => owned(name, "2", podWith(["host-path", "root-unset"]))),
  { ...podWith(["privileged"]), metadata: { name: "agent" } },
  { ...podWith(["privileged"]), metadata: { name: "a-agent" } },
  { ...podWith(["init", "host-all", "probe-host"]), metadata: { name: "odd" } },
  { ...restrictedPod(), metadata: { name: "good" } },
];
const steps: readonly Readonly<Record<string, string | null>>[] = [
  { warn: "restricted" },
  { enforce: "baseline" },
  { enforce: "restricted" },
  { enforce: "baseline" },
  { "enforce-version": "v1.20" },
  { enforce: "restricted", "enforce-version": "v1.35" },
  { "enforce-version": "v1.0" },
  { "enforce-version": "v1.18" },
  { enforce: "privileged" },
  { enforce: "restricted", "enforce-version": null },
  { enforce: null },
  { "enforce-version": "v1.5" },
  { enforce: "restricted", "enforce-version": "v1.99" },
  { enforce: "strict" },
];
const existingPods: Scenario = scenario(
  "existing-pods",
  [labeled("existing", {})],
  [
    ...existing.map((pod) => request(`POST ${core("existing", "pods")}`, pod)),
    relabel("existing", { enforce: "restricted" }, "?dryRun=All"),
    relabel("existing", { enforce: "baseline", "enforce-version": "v1.30" }, "?dryRun=All"),
    ...steps.map((step) => relabel("existing", step)),
    patch(
      "/api/v1/namespaces/existing/status",
      { metadata: { labels: labels({ enforce: "baseline" }) } },
      "merge-patch",
    ),
    request("PUT /api/v1/namespaces/existing", {
      metadata: { name: "existing", labels: labels({ enforce: "restricted" }) },
    }),
    request(
      "PATCH /api/v1/namespaces/existing?fieldManager=applier&force=true",
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "existing", labels: labels({ enforce: "baseline" }) } },
      "application/apply-patch+yaml",
    ),
  ],
);

const longTexts: Scenario = scenario(
  "long-texts",
  [
    labeled("long-warned", { warn: "restricted", audit: "restricted" }),
    labeled("long-enforced", { enforce: "restricted" }),
    labeled("long-existing", {}),
  ],
  [
    tryPod("long-warned", "many", manyContainers()),
    createController("long-warned", "deployments", "many", manyContainers(), "?dryRun=All"),
    tryPod("long-enforced", "many", manyContainers()),
    // One warning for each pod.
    ...changeNames
      .filter((name) => !name.startsWith("windows"))
      .map((name, index) =>
        createPod("long-existing", `pod-with-a-long-name-${"x".repeat(150)}-${index}`, podWith([name])),
      ),
    relabel("long-existing", { enforce: "restricted" }, "?dryRun=All"),
  ],
);

const seed = 1536;

/** Random pods in namespaces with random labels. */
const randomScenario = (index: number): Scenario => {
  const random = seededRandom(seed + index);
  const pick = <Value>(list: readonly Value[]): Value => list[random(list.length)] as Value;
  const values: Record<string, string> = {};
  for (const mode of ["enforce", "audit", "warn"]) {
    if (random(3) > 0) values[mode] = pick(levels);
    if (random(2) === 0) values[`${mode}-version`] = pick(versions);
  }
  const ns = `random-${index}`;
  const requests = Array.from({ length: 8 }, (_, at) => {
    const names = Array.from({ length: 1 + random(4) }, () =>
      pick(changeNames.filter((name) => !name.startsWith("windows"))),
    );
    const pod = podWith(names, random(3) === 0 ? plainPod : restrictedPod);
    return random(4) === 0
      ? createController(ns, pick(Object.keys(controllers)), `c-${at}`, pod, "?dryRun=All")
      : tryPod(ns, `p-${at}`, pod);
  });
  return scenario(ns, [labeled(ns, values)], requests);
};

export const podSecurity: Family = {
  plugins: { disable: disabled },
  setup: [],
  scenarios: [
    ...levels.map(checks),
    ...versions.map(atVersion),
    modes,
    partialLabels,
    controllerKinds,
    withoutTemplate,
    updates("updates-restricted", { enforce: "restricted", warn: "restricted" }),
    updates("updates-baseline", { enforce: "baseline", audit: "restricted", "audit-version": "v1.30" }),
    updates("updates-warned", { warn: "restricted" }),
    namespaceLabels,
    existingPods,
    longTexts,
    ...Array.from({ length: 20 }, (_, index) => randomScenario(index)),
  ],
};
