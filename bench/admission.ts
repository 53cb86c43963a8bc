/**
 * `npm run bench -- --admission`: the CPU time that policies and webhooks add to a create, compared
 * with the same create in the same run without them. The creates are dry runs, so that the time of
 * the disk does not count.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startWebhookServer, type WebhookRequest, type WebhookServer } from "../test/support/webhook-server.ts";
import { type Child, startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";

interface Case {
  readonly what: string;
  /** Added time in microseconds. */
  readonly goal?: number;
  /** Paths and objects to create. */
  readonly setup: readonly (readonly [path: string, object: object])[];
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

const casesWith = (webhooks: WebhookServer): readonly Case[] => [
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
const body = JSON.stringify({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "cm-1", labels: { app: "bench" } },
  data: { payload: "x".repeat(1024) },
});

interface Subject extends Case {
  readonly child: Child;
  readonly client: BenchClient;
  readonly cpuMs: number[];
}

async function open(directory: string, one: Case, index: number): Promise<Subject> {
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, String(index))]);
  const client = new BenchClient(child.ready as unknown as Target);
  for (const [path, object] of one.setup) await client.send({ method: "POST", path, body: JSON.stringify(object) });
  return { ...one, child, client, cpuMs: [] };
}

async function creates({ client, child, cpuMs }: Subject): Promise<void> {
  const path = "/api/v1/namespaces/default/configmaps?dryRun=All";
  const before = await child.usage();
  await client.run(requests, 16, () => ({ method: "POST", path, body }), 201);
  cpuMs.push((await child.usage()).cpuMs - before.cpuMs);
}

/** Microseconds per create: the median of the turns after the first two. */
function perCreate({ cpuMs }: Subject): number {
  const sorted = cpuMs.slice(2).sort((a, b) => a - b);
  return ((sorted[Math.floor(sorted.length / 2)] as number) / requests) * 1000;
}

/** Prints a row for each case. */
export async function admissionBench(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const subjects: Subject[] = [];
  const webhooks = await startWebhookServer(allow);
  for (const [index, one] of casesWith(webhooks).entries()) subjects.push(await open(directory, one, index));
  for (let turn = 0; turn < turns; turn++) for (const subject of subjects) await creates(subject);
  const bare = perCreate(subjects[0] as Subject);
  for (const subject of subjects) {
    const added = perCreate(subject) - bare;
    const goal = subject.goal === undefined ? "" : ` (goal ${subject.goal})`;
    const measured = subject.setup.length === 0 ? `${bare.toFixed(1)} µs` : `+ ${added.toFixed(1)} µs${goal}`;
    console.log(`${subject.what.padEnd(45)} ${measured}`);
    subject.client.close();
    await subject.child.stop();
  }
  await webhooks.close();
  rmSync(directory, { recursive: true, force: true });
}
