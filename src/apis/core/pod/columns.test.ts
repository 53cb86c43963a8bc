import assert from "node:assert/strict";
import { test } from "node:test";
import { cellAt } from "../../../../test/support/cell-at.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Part } from "../../fields.ts";
import { podColumns, podRowConditions } from "./columns.ts";

const now = Date.UTC(2020, 0, 2);
const anHourAgo = "2020-01-01T23:00:00Z";

const one = [{ name: "a" }];
const two = [{ name: "a" }, { name: "b" }];
const running = (more: Part = {}): Part => ({
  name: "a",
  ready: true,
  restartCount: 0,
  state: { running: {} },
  ...more,
});
const ended = (terminated: Part, more: Part = {}): Part => ({
  name: "a",
  ready: false,
  restartCount: 0,
  state: { terminated },
  ...more,
});
const waits = (reason: string, more: Part = {}): Part => ({
  name: "a",
  ready: false,
  restartCount: 0,
  state: { waiting: { reason } },
  ...more,
});
const restarted = (restartCount: number, finishedAt: string | null = anHourAgo): Part => ({
  restartCount,
  lastState: { terminated: { finishedAt } },
});
const isTrue = (type: string): Part => ({ type, status: "True" });
const sidecar = { name: "s", restartPolicy: "Always" };

/** READY, STATUS, RESTARTS. */
const rows: [what: string, pod: Part, want: string][] = [
  ["pending", { spec: { containers: one }, status: { phase: "Pending" } }, "0/1 Pending 0"],
  ["empty object", {}, "0/0  0"],
  [
    "running",
    { spec: { containers: two }, status: { phase: "Running", containerStatuses: [running(), running()] } },
    "2/2 Running 0",
  ],
  [
    "running, one not ready",
    {
      spec: { containers: two },
      status: { phase: "Running", containerStatuses: [running(), running({ ready: false })] },
    },
    "1/2 Running 0",
  ],
  ["reason of the pod", { spec: { containers: one }, status: { phase: "Failed", reason: "Evicted" } }, "0/1 Evicted 0"],
  [
    "scheduling gates",
    {
      spec: { containers: one },
      status: { phase: "Pending", conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] },
    },
    "0/1 SchedulingGated 0",
  ],
  [
    "crashing",
    {
      spec: { containers: one },
      status: { phase: "Running", containerStatuses: [waits("CrashLoopBackOff", restarted(3))] },
    },
    "0/1 CrashLoopBackOff 3 (60m ago)",
  ],
  [
    "the reason of the first container wins",
    {
      spec: { containers: two },
      status: { phase: "Running", containerStatuses: [waits("ErrImagePull"), ended({ reason: "Error" })] },
    },
    "0/2 ErrImagePull 0",
  ],
  [
    "ended by a signal",
    {
      spec: { containers: one },
      status: { phase: "Failed", containerStatuses: [ended({ signal: 9, exitCode: 137 })] },
    },
    "0/1 Signal:9 0",
  ],
  [
    "ended with a code",
    { spec: { containers: one }, status: { phase: "Failed", containerStatuses: [ended({ exitCode: 3 })] } },
    "0/1 ExitCode:3 0",
  ],
  [
    "completed",
    {
      spec: { containers: one },
      status: { phase: "Succeeded", containerStatuses: [ended({ reason: "Completed", exitCode: 0 })] },
    },
    "0/1 Completed 0",
  ],
  [
    "one completed, one runs, ready",
    {
      spec: { containers: two },
      status: {
        phase: "Running",
        conditions: [isTrue("Ready")],
        containerStatuses: [ended({ reason: "Completed" }), running()],
      },
    },
    "1/2 Running 0",
  ],
  [
    "one completed, one runs, not ready",
    {
      spec: { containers: two },
      status: { phase: "Running", containerStatuses: [ended({ reason: "Completed" }), running()] },
    },
    "1/2 NotReady 0",
  ],
  [
    "being deleted",
    {
      metadata: { deletionTimestamp: anHourAgo },
      spec: { containers: one },
      status: { phase: "Running", containerStatuses: [running()] },
    },
    "1/1 Terminating 0",
  ],
  [
    "being deleted, already completed",
    {
      metadata: { deletionTimestamp: anHourAgo },
      spec: { containers: one },
      status: { phase: "Succeeded", containerStatuses: [ended({ reason: "Completed" })] },
    },
    "0/1 Completed 0",
  ],
  [
    "node lost",
    {
      metadata: { deletionTimestamp: anHourAgo },
      spec: { containers: one },
      status: { phase: "Running", reason: "NodeLost" },
    },
    "0/1 Unknown 0",
  ],
  [
    "initializing: the second of two",
    {
      spec: { containers: one, initContainers: two },
      status: {
        phase: "Pending",
        initContainerStatuses: [ended({ exitCode: 0 }), waits("PodInitializing")],
        containerStatuses: [waits("PodInitializing")],
      },
    },
    "0/1 Init:1/2 0",
  ],
  [
    "initializing: failed",
    {
      spec: { containers: one, initContainers: one },
      status: { phase: "Pending", initContainerStatuses: [ended({ exitCode: 2 }, restarted(1))] },
    },
    "0/1 Init:ExitCode:2 1 (60m ago)",
  ],
  [
    "initializing: failed for a reason",
    {
      spec: { containers: one, initContainers: one },
      status: { phase: "Pending", initContainerStatuses: [ended({ exitCode: 2, reason: "OOMKilled" })] },
    },
    "0/1 Init:OOMKilled 0",
  ],
  [
    "initializing: waits",
    {
      spec: { containers: one, initContainers: one },
      status: { phase: "Pending", initContainerStatuses: [waits("ImagePullBackOff")] },
    },
    "0/1 Init:ImagePullBackOff 0",
  ],
  [
    "initialized: restarts of completed init containers do not count",
    {
      spec: { containers: one, initContainers: one },
      status: {
        phase: "Running",
        initContainerStatuses: [ended({ exitCode: 0 }, restarted(5))],
        containerStatuses: [running(restarted(1, null))],
      },
    },
    "1/1 Running 1",
  ],
  [
    "a sidecar and its restarts count",
    {
      spec: { containers: one, initContainers: [sidecar] },
      status: {
        phase: "Running",
        initContainerStatuses: [running({ name: "s", started: true, ...restarted(2) })],
        containerStatuses: [running(restarted(1, "2020-01-01T22:00:00Z"))],
      },
    },
    "2/2 Running 3 (60m ago)",
  ],
  [
    "a sidecar that has not started",
    {
      spec: { containers: one, initContainers: [sidecar] },
      status: { phase: "Pending", initContainerStatuses: [running({ name: "s", ready: false })] },
    },
    "0/2 Init:0/1 0",
  ],
  [
    "a sidecar that crashes after the initialization",
    {
      spec: { containers: one, initContainers: [sidecar] },
      status: {
        phase: "Running",
        conditions: [isTrue("Initialized")],
        initContainerStatuses: [waits("CrashLoopBackOff", { name: "s", restartCount: 4 })],
        containerStatuses: [running()],
      },
    },
    "1/2 Init:CrashLoopBackOff 4",
  ],
];

function cells(pod: Part): unknown[] {
  const object = { ...pod, metadata: { name: "p", ...pod.metadata } } as KubeObject;
  return podColumns.map((column) => cellAt(column, object, now));
}

for (const [what, pod, want] of rows)
  test(`shows the state of a pod: ${what}`, () => assert.equal(cells(pod).slice(1, 4).join(" "), want));

test("shows node, addresses and readiness gates in wide columns", () => {
  const spec = { nodeName: "n", readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] };
  const status = { podIPs: [{ ip: "1.1.1.1" }, { ip: "::1" }], nominatedNodeName: "m", conditions: [isTrue("a")] };
  assert.deepEqual(cells({ spec, status }).slice(5), ["1.1.1.1", "n", "m", "1/2"]);
  assert.deepEqual(cells({}).slice(5), ["<none>", "<none>", "<none>", "<none>"]);
});

test("only rows of completed pods have a condition", () => {
  const reasons = ["Pending", "Running", "Succeeded", "Failed", "constructor"].map((phase) =>
    podRowConditions({ metadata: {}, status: { phase } }).map(({ type, reason }) => `${type} ${reason}`),
  );
  assert.deepEqual(reasons, [[], [], ["Completed Succeeded"], ["Completed Failed"], []]);
});
