/**
 * Table columns of Pods, which summarize the states of their containers, and of PodTemplates.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { ageColumn, nameColumn, since } from "../../../catalog/common-columns.ts";
import type { Column, RowCondition, TimedCell } from "../../../catalog/strategy-contract.ts";
import { firstByKey } from "../../../lib/first-by-key/first-by-key.ts";
import { containerColumns, formatLabels, isTrue, text, wide } from "../../column.ts";
import { items, type Part } from "../../fields.ts";
import { isSidecar } from "./visit-containers.ts";

/** Columns of `pods`. */
export const podColumns: readonly Column[] = [
  nameColumn,
  text("Ready", "The aggregate readiness state of this pod for accepting traffic.", (pod) => {
    const { ready, total } = summarize(pod);
    return `${ready}/${total}`;
  }),
  text("Status", "The aggregate status of the containers in this pod.", status),
  text(
    "Restarts",
    "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
    restarts,
  ),
  ageColumn,
  wide(
    text(
      "IP",
      "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
      // Kubelets set both fields. If other clients do not, `podIP` wins.
      ({ status }) => status?.podIP || items(status?.podIPs)[0]?.ip || "<none>",
    ),
  ),
  wide(
    text(
      "Node",
      "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
      ({ spec }) => spec?.nodeName || "<none>",
    ),
  ),
  wide(
    text(
      "Nominated Node",
      "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.",
      ({ status }) => status?.nominatedNodeName || "<none>",
    ),
  ),
  wide(
    text(
      "Readiness Gates",
      'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
      readinessGates,
    ),
  ),
];

/** Columns of `podtemplates`. */
export const podTemplateColumns: readonly Column[] = [
  nameColumn,
  ...containerColumns(({ template }) => template?.spec).map((column) => ({ ...column, priority: 0 })),
  text("Pod Labels", "The labels for the pod template.", ({ template }) => formatLabels(template?.metadata?.labels)),
];

const completed: Readonly<Record<string, readonly RowCondition[]>> = {
  Succeeded: [
    { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
  ],
  Failed: [{ type: "Completed", status: "True", reason: "Failed", message: "The pod failed." }],
};

/** @returns the condition of completed pods in table rows */
export function podRowConditions({ status }: KubeObject): readonly RowCondition[] {
  const phase = status?.phase ?? "";
  return Object.hasOwn(completed, phase) ? (completed[phase] as readonly RowCondition[]) : [];
}

function status(pod: KubeObject): string {
  const { phase = "", reason = "" } = pod.status ?? {};
  if (pod.metadata.deletionTimestamp === undefined) return summarize(pod).reason;
  if (reason === "NodeLost") return "Unknown";
  return phase === "Failed" || phase === "Succeeded" ? summarize(pod).reason : "Terminating";
}

function restarts(pod: KubeObject): string | TimedCell {
  const { restarts, lastRestart } = summarize(pod);
  if (restarts === 0 || lastRestart === "") return String(restarts);
  const last = since(lastRestart);
  return (now) => `${restarts} (${last(now)} ago)`;
}

function readinessGates({ spec, status }: KubeObject): string {
  const gates = items(spec?.readinessGates);
  if (gates.length === 0) return "<none>";
  const statuses = firstByKey(items(status?.conditions).map((each) => [each.type, each.status] as const));
  return `${gates.filter(({ conditionType }) => statuses.get(conditionType) === "True").length}/${gates.length}`;
}

interface Restarts {
  readonly restarts: number;
  /** RFC 3339, or empty. */
  readonly lastRestart: string;
}

interface Summary extends Restarts {
  readonly ready: number;
  readonly total: number;
  readonly reason: string;
}

function summarize(pod: KubeObject): Summary {
  const { spec = {}, status = {} } = pod;
  const init = summarizeInit(pod);
  const total = items(spec.containers).length + items(spec.initContainers).filter(isSidecar).length;
  if (init.reason !== undefined && !isTrue(status.conditions, "Initialized")) {
    return { ...sumRestarts(init.seen), ready: init.ready, total, reason: init.reason };
  }
  const containers = items(status.containerStatuses);
  const running = containers.filter(isReadyAndRunning).length;
  return {
    ...sumRestarts([...init.seen.filter(({ name }) => init.sidecars.has(name)), ...containers]),
    ready: init.ready + running,
    total,
    reason: reasonOf(pod, init.reason ?? ownReason(pod), running > 0),
  };
}

interface Initialization {
  /** State of the first unfinished init container; undefined if there is none. */
  readonly reason: string | undefined;
  /** Statuses of init containers up to that one. */
  readonly seen: readonly Part[];
  readonly sidecars: ReadonlySet<string>;
  /** Sidecars that are ready. */
  readonly ready: number;
}

function summarizeInit({ spec, status }: KubeObject): Initialization {
  const containers = items(spec?.initContainers);
  const sidecars = new Set<string>(containers.filter(isSidecar).map(({ name }) => name));
  const seen: Part[] = [];
  let ready = 0;
  for (const container of items(status?.initContainerStatuses)) {
    seen.push(container);
    if (hasSucceeded(container)) continue;
    if (!sidecars.has(container.name) || container.started !== true) {
      return {
        reason: initReason(container.state ?? {}, `${seen.length - 1}/${containers.length}`),
        seen,
        sidecars,
        ready,
      };
    }
    if (container.ready === true) ready++;
  }
  return { reason: undefined, seen, sidecars, ready };
}

function hasSucceeded({ state }: Part): boolean {
  return state?.terminated !== undefined && (state.terminated.exitCode ?? 0) === 0;
}

function initReason({ terminated, waiting }: Part, progress: string): string {
  if (terminated !== undefined) return `Init:${terminatedReason(terminated)}`;
  return waiting?.reason && waiting.reason !== "PodInitializing" ? `Init:${waiting.reason}` : `Init:${progress}`;
}

function terminatedReason({ reason, signal, exitCode = 0 }: Part): string {
  if (reason) return reason;
  return signal ? `Signal:${signal}` : `ExitCode:${exitCode}`;
}

function ownReason({ status = {} }: KubeObject): string {
  const gated = items(status.conditions).some(
    ({ type, reason }) => type === "PodScheduled" && reason === "SchedulingGated",
  );
  return gated ? "SchedulingGated" : status.reason || status.phase || "";
}

/** The state of the first waiting or terminated container; Completed only if none is running. */
function reasonOf({ status }: KubeObject, otherwise: string, isRunning: boolean): string {
  const reason =
    items(status?.containerStatuses)
      .map(stateReason)
      .find((found) => found !== undefined) ?? otherwise;
  if (reason !== "Completed" || !isRunning) return reason;
  return isTrue(status?.conditions, "Ready") ? "Running" : "NotReady";
}

function stateReason({ state }: Part): string | undefined {
  if (state?.waiting?.reason) return state.waiting.reason;
  return state?.terminated === undefined ? undefined : terminatedReason(state.terminated);
}

function isReadyAndRunning({ ready, state }: Part): boolean {
  return ready === true && state?.running !== undefined && stateReason({ state }) === undefined;
}

function sumRestarts(statuses: readonly Part[]): Restarts {
  let restarts = 0;
  let lastRestart = "";
  for (const { restartCount = 0, lastState } of statuses) {
    restarts += restartCount;
    const ended = lastState?.terminated?.finishedAt ?? "";
    if (ended > lastRestart) lastRestart = ended; // In UTC and whole seconds, so texts compare as times.
  }
  return { restarts, lastRestart };
}
