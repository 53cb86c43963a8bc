/**
 * `npm run bench -- --admission`: the CPU time that policies, webhooks and plugins add to a create,
 * compared with the same create in the same run without them, and what Services cost. Most creates are dry runs, so that
 * the time of the disk does not count. `-- --admission CASE` runs only the cases whose name contains
 * CASE, and those that they are compared with.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWebhookServer, type WebhookRequest, type WebhookServer } from "../test/support/webhook-server.ts";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";

interface Case {
  readonly what: string;
  /** The object whose first case this one is compared with; its own when unset. */
  readonly basis?: Create;
  /** The first case of each object is the one that the others are compared with. */
  readonly create: Create;
  /** Plugins that do not run. */
  readonly disable?: readonly string[];
  /** Added time in microseconds. */
  readonly goal?: number;
  /** Paths and objects to create. */
  readonly setup: readonly (readonly [path: string, object: object])[];
}

/** A dry run, unless the object is stored. */
interface Create {
  readonly collection: string;
  readonly body: string;
  readonly isStored?: true;
}

const group = "/apis/admissionregistration.k8s.io/v1";

/** A policy and its binding for one resource. */
function policy(name: string, resource: string, expressions: readonly string[]): Case["setup"] {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources: [resource] };
  const matchConstraints = { resourceRules: [rule] };
  const validations = expressions.map((expression) => ({ expression }));
  return [
    [`${group}/validatingadmissionpolicies`, { metadata: { name }, spec: { matchConstraints, validations } }],
    [
      `${group}/validatingadmissionpolicybindings`,
      { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } },
    ],
  ];
}

function mutatingPolicy(name: string, expression: string): Case["setup"] {
  const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
  const mutation = { patchType: "ApplyConfiguration", applyConfiguration: { expression } };
  const spec = {
    matchConstraints: { resourceRules: [rule] },
    reinvocationPolicy: "Never",
    mutations: [mutation],
  };
  return [
    [`${group}/mutatingadmissionpolicies`, { metadata: { name }, spec }],
    [`${group}/mutatingadmissionpolicybindings`, { metadata: { name }, spec: { policyName: name } }],
  ];
}

const limits = { hard: { "count/configmaps": "1M" } };
const quota: Case["setup"] = [
  ["/api/v1/namespaces/default/resourcequotas", { metadata: { name: "q" }, spec: limits }],
  [
    "PUT /api/v1/namespaces/default/resourcequotas/q/status",
    { metadata: { name: "q" }, status: { ...limits, used: { "count/configmaps": "0" } } },
  ],
];

const simple = [
  "object.metadata.name.startsWith('cm-')",
  "has(object.metadata.labels) && object.metadata.labels.app == 'bench'",
  "object.data.payload.size() < 10000",
  "!('forbidden' in object.data)",
  "request.userInfo.username != 'nobody-at-all'",
];

/** A validating webhook for ConfigMaps, which this process serves. */
function webhook({ url, ca }: WebhookServer, resource: string): Case["setup"] {
  const spec = {
    name: `${resource}.example.com`,
    clientConfig: { url: `${url}/allow`, caBundle: Buffer.from(ca).toString("base64") },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
  };
  return [[`${group}/validatingwebhookconfigurations`, { metadata: { name: resource }, webhooks: [spec] }]];
}

const allow = ({ body: { apiVersion, kind, request } }: WebhookRequest): object => ({
  apiVersion,
  kind,
  response: { uid: request.uid, allowed: true },
});

const configMapCases = (webhooks: WebhookServer): readonly Omit<Case, "create">[] => [
  { what: "nothing configured", setup: [] },
  {
    what: "one matching policy with five expressions",
    goal: 40,
    setup: policy("matching", "configmaps", simple),
  },
  {
    what: "100 policies that do not match",
    goal: 20,
    setup: Array.from({ length: 100 }, (_, index) => policy(`other-${index}`, "secrets", simple)).flat(),
  },
  {
    what: "one mutating policy",
    setup: mutatingPolicy("label", "Object{metadata: Object.metadata{labels: {'added': '1'}}}"),
  },
  { what: "one validating webhook", goal: 150, setup: webhook(webhooks, "configmaps") },
  { what: "a webhook that does not match", setup: webhook(webhooks, "secrets") },
];

const requests = 4000;
const turns = 8;
const configMap: Create = {
  collection: "/api/v1/namespaces/default/configmaps",
  body: JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "cm-1", labels: { app: "bench" } },
    data: { payload: "x".repeat(1024) },
  }),
};

/** Dry runs are not charged to quotas. */
const storedConfigMap: Create = {
  collection: configMap.collection,
  body: configMap.body.replace('"name":"cm-1"', '"generateName":"cm-"'),
  isStored: true,
};

const service = (spec: object): Create => ({
  collection: "/api/v1/namespaces/default/services",
  body: JSON.stringify({
    apiVersion: "v1",
    kind: "Service",
    metadata: { generateName: "s-", labels: { app: "bench" } },
    spec: { selector: { app: "bench" }, ports: [{ port: 80 }], ...spec },
  }),
  isStored: true,
});
const headless = service({ clusterIP: "None" });

/** A pod of ten containers that `restricted` allows. */
const pod: Create = {
  collection: "/api/v1/namespaces/pods/pods",
  body: JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod-1" },
    spec: {
      securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
      containers: Array.from({ length: 10 }, (_, index) => ({
        name: `container-${index}`,
        image: "registry.example.com/image:1",
        ports: [{ containerPort: 8000 + index }],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      })),
    },
  }),
};

const plainPod: Create = {
  collection: "/api/v1/namespaces/default/pods",
  body: JSON.stringify({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "pod-1", labels: { app: "bench" } },
    spec: {
      initContainers: [{ name: "init", image: "example.com/init:1" }],
      containers: [{ name: "app", image: "example.com/app:1", resources: { requests: { cpu: "100m" } } }],
    },
  }),
};

/** They set defaults of pods or check them. */
const podPlugins = [
  "ServiceAccount",
  "Priority",
  "DefaultTolerationSeconds",
  "RuntimeClass",
  "PodTopologyLabels",
  "NodeDeclaredFeatureValidator",
  "PodResizeValidator",
];

const namespaceOfPods = (labels: Readonly<Record<string, string>>): Case["setup"] => [
  ["/api/v1/namespaces", { metadata: { name: "pods", labels } }],
  ["/api/v1/namespaces/pods/serviceaccounts", { metadata: { name: "default" } }],
];

const casesWith = (webhooks: WebhookServer): readonly Case[] => [
  ...configMapCases(webhooks).map((one) => ({ ...one, create: configMap })),
  { what: "a stored object", create: storedConfigMap, setup: [] },
  { what: "a stored object that a quota counts", create: storedConfigMap, goal: 15, setup: quota },
  { what: "a headless service", create: headless, basis: storedConfigMap, setup: [] },
  { what: "a service with a cluster IP", create: service({}), basis: storedConfigMap, setup: [] },
  { what: "a pod of ten containers", create: pod, setup: namespaceOfPods({}) },
  {
    what: "a pod of ten containers, restricted",
    create: pod,
    goal: 60,
    setup: namespaceOfPods({ "pod-security.kubernetes.io/enforce": "restricted" }),
  },
  { what: "a pod without defaults of plugins", create: plainPod, disable: podPlugins, setup: [] },
  { what: "a pod with its account, token and defaults", create: plainPod, goal: 40, setup: [] },
];

/** The chosen cases, and those that they are compared with. */
function choose(cases: readonly Case[], text: string): readonly Case[] {
  const chosen = cases.filter(({ what }) => what.includes(text));
  const first = new Set(chosen.map((one) => firstOf(cases, one)));
  return cases.filter((one) => chosen.includes(one) || first.has(one));
}

function firstOf<One extends Case>(cases: readonly One[], { create, basis = create }: Case): One {
  return cases.find((one) => one.create === basis) as One;
}

interface Subject extends Case {
  readonly child: Child;
  readonly client: BenchClient;
  readonly cpuMs: number[];
}

async function open(directory: string, one: Case, index: number): Promise<Subject> {
  const argv = [join(directory, String(index)), "", (one.disable ?? []).join(",")];
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), argv);
  const client = new BenchClient(child.ready as unknown as Target);
  for (const [target, object] of one.setup) {
    const [method = "", path = ""] = target.startsWith("/") ? ["POST", target] : target.split(" ");
    await client.send({ method, path, body: JSON.stringify(object) });
  }
  return { ...one, child, client, cpuMs: [] };
}

async function creates({ create, client, child, cpuMs }: Subject): Promise<void> {
  const { collection, body, isStored = false } = create;
  const path = isStored ? collection : `${collection}?dryRun=All`;
  const before = await child.usage();
  await client.run(requests, 16, () => ({ method: "POST", path, body }), 201);
  cpuMs.push((await child.usage()).cpuMs - before.cpuMs);
}

/** Microseconds per create: the median of the turns after the first two. */
function perCreate({ cpuMs }: Subject): number {
  const sorted = cpuMs.slice(2).sort((a, b) => a - b);
  return ((sorted[Math.floor(sorted.length / 2)] as number) / requests) * 1000;
}

/** Prints a row for each case whose name contains the text. */
export async function admissionBench(text = ""): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const subjects: Subject[] = [];
  const webhooks = await startWebhookServer(allow);
  for (const [index, one] of choose(casesWith(webhooks), text).entries())
    subjects.push(await open(directory, one, index));
  for (let turn = 0; turn < turns; turn++) for (const subject of subjects) await creates(subject);
  for (const subject of subjects) {
    const first = firstOf(subjects, subject);
    const bare = perCreate(first);
    const added = perCreate(subject) - bare;
    const goal = subject.goal === undefined ? "" : ` (goal ${subject.goal})`;
    const measured = subject === first ? `${bare.toFixed(1)} µs` : `+ ${added.toFixed(1)} µs${goal}`;
    console.log(`${subject.what.padEnd(45)} ${measured}`);
    subject.client.close();
    await subject.child.stop();
  }
  await webhooks.close();
  rmSync(directory, { recursive: true, force: true });
}
