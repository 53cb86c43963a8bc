/** PodGroups with their workloads and priority, and Jobs whose pods are scheduled as a gang. */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import { type Family, namespace, request } from "./builders.ts";
import { pairs, pick, pod, present, recordedElsewhere } from "./pods.ts";

const group = "/apis/scheduling.k8s.io";
const groups = (inNamespace: string): string => `${group}/v1alpha2/namespaces/${inNamespace}/podgroups`;
const workloads = (inNamespace: string): string => `${group}/v1alpha2/namespaces/${inNamespace}/workloads`;
const jobs = (inNamespace: string): string => `/apis/batch/v1/namespaces/${inNamespace}/jobs`;
const merge = "application/merge-patch+json";
const apply = "application/apply-patch+yaml";

const basic = { basic: {} };
const gang = { gang: { minCount: 2 } };
const podGroup = (name: string, spec: Sent = {}, metadata: Sent = {}): Sent => ({
  metadata: { name, ...metadata },
  spec: { schedulingPolicy: basic, ...spec },
});
const fromTemplate = (workloadName: string, podGroupTemplateName: string): Sent => ({
  podGroupTemplateRef: { workload: { workloadName, podGroupTemplateName } },
});
const workload = (inNamespace: string, name: string, templates: readonly string[], metadata: Sent = {}): SetupStep => [
  workloads(inNamespace),
  {
    metadata: { name, ...metadata },
    spec: { podGroupTemplates: templates.map((template) => ({ name: template, schedulingPolicy: basic })) },
  },
];

const templateRows = pairs(["w", "other", "held", "missing", "a/b", ""], ["one", "two", "missing", ""]);
const existing: Scenario = {
  name: "group-workloads",
  setup: [
    namespace("group-workloads"),
    namespace("group-elsewhere"),
    workload("group-workloads", "w", ["one", "two"]),
    workload("group-workloads", "other", ["two"]),
    workload("group-workloads", "held", ["one"], { finalizers: ["example.com/hold"] }),
    workload("group-elsewhere", "elsewhere", ["one"]),
  ],
  answers: {},
  requests: [
    ...templateRows.map(([name, template], row) =>
      request(`POST ${groups("group-workloads")}`, podGroup(`g-${row}`, fromTemplate(name, template))),
    ),
    request(`POST ${groups("group-workloads")}`, podGroup("plain")),
    request(`POST ${groups("group-workloads")}`, podGroup("none", { podGroupTemplateRef: {} })),
    request(`POST ${groups("group-workloads")}`, podGroup("elsewhere", fromTemplate("elsewhere", "one"))),
    request(`POST ${groups("group-workloads")}?dryRun=All`, podGroup("dry", fromTemplate("missing", "one"))),
    request(`POST ${groups("group-workloads")}`, {
      ...podGroup("x", fromTemplate("missing", "one")),
      metadata: { generateName: "generated-" },
    }),
    request(
      `PATCH ${groups("group-workloads")}/applied?fieldManager=m`,
      {
        apiVersion: "scheduling.k8s.io/v1alpha2",
        kind: "PodGroup",
        ...podGroup("applied", fromTemplate("missing", "one")),
      },
      apply,
    ),
    request(`DELETE ${workloads("group-workloads")}/held`),
    request(`POST ${groups("group-workloads")}`, podGroup("held-again", fromTemplate("held", "one"))),
    request(`POST ${groups("group-workloads")}`, podGroup("held-missing", fromTemplate("held", "missing"))),
    request(`DELETE ${workloads("group-workloads")}/w`),
    request(`POST ${groups("group-workloads")}`, podGroup("gone", fromTemplate("w", "one"))),
    request(`PATCH ${groups("group-workloads")}/g-0`, { metadata: { labels: { a: "b" } } }, merge),
    request(`PATCH ${groups("group-workloads")}/g-0/status`, { status: { conditions: [] } }, merge),
    request(`DELETE ${groups("group-workloads")}/g-0`),
  ],
};

const priorityRows: readonly Sent[] = [
  {},
  { priorityClassName: "" },
  { priorityClassName: "low" },
  { priorityClassName: "missing" },
  { priorityClassName: "system-node-critical" },
  { priority: 0 },
  { priority: 7 },
  { priorityClassName: "low", priority: -3 },
  { priorityClassName: "low", priority: 3 },
];
const classes = `${group}/v1/priorityclasses`;
const priorityGroups = (prefix: string): AdmissionRequest[] =>
  priorityRows.map((spec, row) => request(`POST ${groups("group-priority")}`, podGroup(`${prefix}-${row}`, spec)));
const priority: Scenario = {
  name: "group-priority",
  setup: [namespace("group-priority"), [classes, { metadata: { name: "low" }, value: -3 }]],
  answers: {},
  requests: [
    ...priorityGroups("none"),
    request(`POST ${classes}`, { metadata: { name: "usual" }, value: 100, globalDefault: true }),
    ...priorityGroups("usual"),
    request(`PATCH ${groups("group-priority")}/none-0`, { spec: { priority: 5 } }, merge),
    request(`PATCH ${groups("group-priority")}/none-0`, { metadata: { labels: { a: "b" } } }, merge),
    request(`DELETE ${classes}/usual`),
  ],
};

const job = (name: string, spec: Sent = {}, template: Sent = {}): Sent => ({
  metadata: { name },
  spec: { template: { spec: { ...pod("x").spec, restartPolicy: "Never", ...template } }, ...spec },
});
const parallelism = (name: string, value: number | null, query = ""): AdmissionRequest =>
  request(`PATCH ${jobs("group-jobs")}/${name}${query}`, { spec: { parallelism: value } }, merge);
const named = (podGroupName: string): Sent => ({ schedulingGroup: { podGroupName } });
const gangs: Scenario = {
  name: "group-jobs",
  setup: [
    namespace("group-jobs"),
    [groups("group-jobs"), podGroup("gang", { schedulingPolicy: gang })],
    [groups("group-jobs"), podGroup("basic")],
    [jobs("group-jobs"), job("plain", { parallelism: 2 })],
    [jobs("group-jobs"), job("in-gang", { parallelism: 2 }, named("gang"))],
    [jobs("group-jobs"), job("in-basic", { parallelism: 2 }, named("basic"))],
    [jobs("group-jobs"), job("in-missing", { parallelism: 2 }, named("missing"))],
  ],
  answers: {},
  requests: ["plain", "in-gang", "in-basic", "in-missing"].flatMap((name) => [
    parallelism(name, 3, "?dryRun=All"),
    parallelism(name, 3),
    parallelism(name, 3),
    parallelism(name, 2),
    parallelism(name, null),
    request(`PATCH ${jobs("group-jobs")}/${name}`, { spec: { suspend: true } }, merge),
    request(`PATCH ${jobs("group-jobs")}/${name}/status`, { status: { active: 1 } }, merge),
  ]),
};

const random = seededRandom(20260103);
const randomScenario: Scenario = {
  name: "group-random",
  setup: [
    namespace("group-random"),
    workload("group-random", "w", ["one", "two"]),
    [classes, { metadata: { name: "low" }, value: -3 }],
  ],
  answers: {},
  requests: Array.from({ length: 30 }, (_none, row) => {
    const spec = present({
      schedulingPolicy: pick(random, [basic, gang]),
      priorityClassName: pick(random, [undefined, "low", "missing"]),
      priority: pick(random, [undefined, undefined, -3, 0]),
      ...pick(random, [{}, fromTemplate("w", "one"), fromTemplate("w", "three"), fromTemplate("missing", "one")]),
    });
    return request(`POST ${groups("group-random")}`, podGroup(`g-${row}`, spec));
  }),
};

const scenarios = [existing, priority, gangs, randomScenario];
const runtimeConfig = "scheduling.k8s.io/v1alpha2=true";
const disable = [...recordedElsewhere, "PodGroupProtection"];

export const podGroups: Family = {
  plugins: {
    disable,
    featureGates: "GangScheduling=true,GenericWorkload=true,WorkloadAwarePreemption=true,WorkloadWithJob=true",
    runtimeConfig,
  },
  setup: [],
  scenarios,
};
