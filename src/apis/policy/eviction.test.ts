/**
 * Evictions, each of its own pod: the response, and the state of the pod and its budget. Compared
 * with kube-apiserver.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import type { AdmissionPlugin } from "../../admission/contract.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { evictPod } from "./eviction.ts";

const pods: Place = ["/pods", "ns"];
const budgets: Place = ["policy/poddisruptionbudgets", "ns"];
let cluster: MemoryRegistry;
/** Pods whose deletion was admitted as an eviction. */
const admitted: string[] = [];

before(async () => {
  const plugin: AdmissionPlugin = {
    name: "Watching",
    validate({ operation, name }) {
      if (operation === "DELETE") admitted.push(name);
    },
  };
  cluster = await openMemoryRegistry({ plugins: () => [plugin] });
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
});
after(() => cluster.close());

interface Row {
  readonly phase?: string;
  readonly ready?: boolean;
  /** The status of each budget, and its policy for unready pods. */
  readonly budgets?: readonly (typeof seen & { readonly unready?: string; readonly disruptedPods?: object })[];
  /** Delete options. `UID` and `VERSION` are replaced by those of the pod. */
  readonly options?: object;
  readonly name?: string;
  readonly dryRun?: boolean;
  /** `201`, or the code and message of the error; with causes, the message of the last one. */
  readonly want: string;
  readonly pod: "gone" | "going" | "marked" | "untouched";
  /** Disruptions that the first budget then allows, and the reason of its condition. */
  readonly left?: string;
}

const seen = { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
const none = { ...seen, disruptionsAllowed: 0 };
const condition = { type: "DisruptionAllowed", lastTransitionTime: "2020-01-01T00:00:00Z" };
const because = (status: string, reason: string, message: string): object => ({
  conditions: [{ ...condition, status, reason, message }],
});
const violates = "429 Cannot evict pod as it would violate the pod's disruption budget.";
const bad = 'DeleteOptions.meta.k8s.io "" is invalid';

const rows: Record<string, Row> = {
  "pending: no budget is asked": { phase: "Pending", budgets: [none], want: "201", pod: "going" },
  "failed: goes at once": { phase: "Failed", budgets: [none], want: "201", pod: "gone" },
  "running, without a budget": { want: "201", pod: "going" },
  "with no grace": { options: { gracePeriodSeconds: 0 }, want: "201", pod: "gone" },
  "another name": { name: "other", want: "400 name in URL does not match name in Eviction object", pod: "untouched" },
  "no name": { name: "", want: "400 name in URL does not match name in Eviction object", pod: "untouched" },
  "a dry run": { dryRun: true, want: "201", pod: "untouched" },
  "a dry run that only the body says": {
    options: { dryRun: ["All"] },
    budgets: [seen],
    want: "201",
    pod: "untouched",
    left: "2",
  },
  "a dry run, said differently": {
    dryRun: true,
    options: { dryRun: ["All", "All"] },
    want: "500 Non-matching dry-run options in request and content: [All] and [All All]",
    pod: "untouched",
  },
  "a dry run of another kind": {
    options: { dryRun: ["x"] },
    want: `422 ${bad}: dryRun: Unsupported value: ["x"]: supported values: "All"`,
    pod: "untouched",
  },
  "a policy that is none": {
    options: { propagationPolicy: "Bad" },
    want: `422 ${bad}: propagationPolicy: Unsupported value: "Bad": supported values: "Foreground", "Background", "Orphan", "nil"`,
    pod: "marked",
  },
  "its uid": { options: { preconditions: { uid: "UID" } }, want: "201", pod: "going" },
  "another uid": {
    options: { preconditions: { uid: "x" } },
    want: "409 the UID in the precondition (x) does not match the UID in record (UID). The object might have been deleted and then recreated",
    pod: "untouched",
  },
  "another uid, pending": {
    phase: "Pending",
    options: { preconditions: { uid: "x" } },
    want: "409 the UID in the precondition (x) does not match the UID in record (UID). The object might have been deleted and then recreated",
    pod: "untouched",
  },
  "its version": { options: { preconditions: { resourceVersion: "VERSION" } }, want: "201", pod: "going" },
  "an older version, where a budget has given": {
    options: { preconditions: { resourceVersion: "1" } },
    budgets: [seen],
    want: "409 the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (VERSION). The object might have been modified",
    pod: "untouched",
    left: "1",
  },
  "what cannot be read": {
    options: { ignoreStoreReadErrorWithClusterBreakingPotential: true },
    want:
      '422 Eviction.policy "NAME" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: ' +
      "can not be set for pod eviction, try after removing the option",
    pod: "untouched",
  },
  "a budget that allows": { budgets: [seen], want: "201", pod: "going", left: "1" },
  "a budget that allows one": {
    budgets: [{ ...seen, disruptionsAllowed: 1 }],
    want: "201",
    pod: "going",
    left: "0 InsufficientPods",
  },
  "a budget that was not looked at": {
    budgets: [{ ...seen, observedGeneration: 0 }],
    want: `${violates} The disruption budget NAME-0 is still being processed by the server. 10`,
    pod: "untouched",
  },
  "two budgets": {
    budgets: [seen, seen],
    want: "500 This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    pod: "untouched",
  },
  "a budget that needs more": {
    budgets: [{ ...none, currentHealthy: 1, desiredHealthy: 3 }],
    want: `${violates} The disruption budget NAME-0 needs 3 healthy pods and has 1 currently`,
    pod: "untouched",
  },
  "a budget that does not say why": {
    budgets: [none],
    want: `${violates} The disruption budget NAME-0 does not allow evicting pods currently`,
    pod: "untouched",
  },
  "a budget that does": {
    budgets: [{ ...none, ...because("False", "InsufficientPods", "why") }],
    want: `${violates} The disruption budget NAME-0 does not allow evicting pods currently (InsufficientPods): why`,
    pod: "untouched",
  },
  "a budget that could not count": {
    budgets: [{ ...none, currentHealthy: 0, ...because("False", "SyncFailed", "why") }],
    want: `${violates} The disruption budget NAME-0 does not allow evicting pods currently because it failed sync: why`,
    pod: "untouched",
  },
  "a budget with too many that are gone": {
    budgets: [
      {
        ...seen,
        disruptedPods: Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, "2020-01-01T00:00:00Z"])),
      },
    ],
    want: '403 poddisruptionbudget.policy "NAME-0" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    pod: "untouched",
  },
  "not ready, enough others are": { ready: false, budgets: [none], want: "201", pod: "going", left: "0" },
  "not ready, whatever the others": {
    ready: false,
    budgets: [{ ...none, currentHealthy: 0, unready: "AlwaysAllow" }],
    want: "201",
    pod: "going",
  },
  "not ready, and too few others": {
    ready: false,
    budgets: [{ ...none, currentHealthy: 0 }],
    want: `${violates} The disruption budget NAME-0 needs 1 healthy pods and has 0 currently`,
    pod: "untouched",
  },
};

async function arrange(
  name: string,
  { phase = "Running", ready = true, budgets: budgetStates = [] }: Row,
): Promise<KubeObject> {
  const labels = { pod: name };
  const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
  await cluster.create(pods, { metadata: { name, labels }, spec });
  const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
  await cluster.change(pods, name, (pod) => void Object.assign(pod.status, { phase, conditions }), "status");
  for (const [at, { unready, ...status }] of budgetStates.entries()) {
    const budget = {
      selector: { matchLabels: labels },
      ...(unready !== undefined && { unhealthyPodEvictionPolicy: unready }),
    };
    await cluster.create(budgets, { metadata: { name: `${name}-${at}` }, spec: budget });
    await cluster.change(budgets, `${name}-${at}`, (object) => void Object.assign(object, { status }), "status");
  }
  return (await cluster.find(pods, name)) as KubeObject;
}

async function evict(
  name: string,
  { options, name: named = name, dryRun = false }: Row,
  pod: KubeObject,
): Promise<string> {
  const target = cluster.registry.catalog.find("", "v1", "pods") as Resolved;
  const { uid = "", resourceVersion = "" } = pod.metadata;
  const normalized = (text: string): string =>
    text.replaceAll(uid, "UID").replaceAll(`(${resourceVersion})`, "(VERSION)").replaceAll(name, "NAME");
  const sent = JSON.parse(
    JSON.stringify(options ?? null)
      .replace("UID", uid)
      .replace("VERSION", resourceVersion),
  );
  const body = { metadata: { ...(named !== "" && { name: named }) }, ...(sent !== null && { deleteOptions: sent }) };
  const request = {
    target,
    namespace: "ns",
    name,
    subresource: "eviction",
    user: loopbackUser,
    dryRun,
    warnings: [],
    fieldManager: "t",
    userAgent: "t",
  };
  try {
    await evictPod(cluster.registry, request, body, async () => {});
    return "201";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { code, message, reason, details } = error.status;
    const cause = reason === "TooManyRequests" ? details?.causes?.at(-1)?.message : undefined;
    const after = details?.retryAfterSeconds;
    return normalized(
      [code, message.replace(/^Operation .*": /, ""), cause, after].filter((part) => part !== undefined).join(" "),
    );
  }
}

async function stateOf(name: string): Promise<Row["pod"]> {
  const pod = await cluster.find(pods, name);
  if (pod === undefined) return "gone";
  const mark = (pod.status.conditions as { type: string; reason: string }[]).find(
    ({ type }) => type === "DisruptionTarget",
  );
  assert.equal(mark?.reason, mark && "EvictionByEvictionAPI");
  if (mark === undefined) return "untouched";
  return pod.metadata.deletionTimestamp === undefined ? "marked" : "going";
}

for (const [at, [what, row]] of Object.entries(rows).entries()) {
  test(`${what}: ${row.want}`, async () => {
    const name = `pod${at}`;
    const pod = await arrange(name, row);
    assert.equal(await evict(name, row, pod), row.want);
    assert.equal(await stateOf(name), row.pod);
    assert.deepEqual(admitted, [], "it is admitted as an eviction");
    if (row.left === undefined) return;
    const { status } = (await cluster.find(budgets, `${name}-0`)) as KubeObject;
    const reason = status.conditions?.[0]?.reason ?? "";
    assert.equal(`${status.disruptionsAllowed} ${reason}`.trim(), row.left);
    const counted = row.left !== String(row.budgets?.[0]?.disruptionsAllowed);
    assert.deepEqual(Object.keys(status.disruptedPods ?? {}), counted ? [name] : []);
  });
}
