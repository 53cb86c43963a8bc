/**
 * `npm run bench -- --flow-control`:
 * CPU time of flow control for each request, without sockets: the filter, the turn of the request,
 * and the end of the request, with the flow schemas and levels of kube-apiserver.
 */
import { systemClock } from "../src/apimachinery/clock.ts";
import { bootstrapObjects } from "../src/controllers/flow-control/objects/bootstrap-objects.ts";
import { flowControlFilter, type TrackedRequest } from "../src/flow-control/filter.ts";
import { readFlowSchema } from "../src/flow-control/flow-schema.ts";
import { Levels } from "../src/flow-control/levels.ts";
import { maxInFlightFilter } from "../src/flow-control/max-in-flight.ts";
import { readPriorityLevel } from "../src/flow-control/priority-level.ts";
import { WatchCounts } from "../src/flow-control/width/watch-counts.ts";
import { oneSeat } from "../src/flow-control/width/write-width.ts";
import { EventLoopTurns } from "../src/lib/fair-queuing/event-loop-turns.ts";
import { flowControlMetrics } from "../src/metrics/flow-control-metrics.ts";
import type { Filter, RequestState } from "../src/request/context.ts";
import { requestInfo } from "../src/request/request-info.ts";

const requests = 1_000_000;
/** Fewer than start in one turn of the event loop, so that no request waits. */
const atOnce = 10;
const now = performance.now.bind(performance);

const users = {
  "system:serviceaccount:reports:reader": ["system:serviceaccounts", "system:authenticated"],
  alice: ["developers", "system:authenticated"],
  "system:node:one": ["system:nodes", "system:authenticated"],
};
const lines = ["GET /api/v1/namespaces/n/configmaps/a", "PUT /apis/coordination.k8s.io/v1/namespaces/n/leases/a"];
const infos = lines.map((line) => requestInfo(line.split(" ")[0] ?? "", line.split(" ")[1] ?? ""));

function flowControl(): Filter {
  const { observer } = flowControlMetrics(now);
  const fairClock = { now, after: systemClock.after };
  const levels = new Levels<TrackedRequest>({ serverSeats: 600, clock: fairClock, observer, failed: console.error });
  const objects = bootstrapObjects.map(({ object }) => object as never);
  const ofKind = (kind: string) => objects.filter((object: { kind: string }) => object.kind === kind);
  levels.configure(
    ofKind("PriorityLevelConfiguration").flatMap((object) => readPriorityLevel(object) ?? []),
    ofKind("FlowSchema").map(readFlowSchema),
  );
  return flowControlFilter({
    levels: () => levels,
    quiesced() {},
    estimate: () => oneSeat,
    watches: new WatchCounts(),
    observer,
    clock: systemClock,
    fairClock,
    turns: new EventLoopTurns({ now, nextTurn: setImmediate }),
    requestTimeoutMs: 60_000,
    rejected() {},
  });
}

function plainLimits(): Filter {
  const { observer } = flowControlMetrics(now);
  return maxInFlightFilter({ limits: { readOnly: 400, mutating: 200 }, observer, rejected() {} });
}

/** @returns microseconds of CPU time for each request */
async function measure(filter: Filter | undefined): Promise<number> {
  const entries = Object.entries(users);
  const before = process.cpuUsage();
  for (let request = 0; request < requests; request++) {
    const [name, groups] = entries[request % entries.length] as [string, string[]];
    const closing: (() => void)[] = [];
    const exchange = { onClose: (run: () => void) => closing.push(run) };
    const context = {
      exchange,
      info: infos[request % infos.length],
      user: { name, groups },
      headers: {},
      receivedAt: 0,
      endsAt: 60_000,
      turn: undefined,
      execution: undefined,
    } as unknown as RequestState;
    const pending = filter?.(context);
    if (pending !== undefined) await pending;
    context.execution?.returned();
    for (const run of closing) run();
    if (request % atOnce === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

/** Prints the cost of each variant, three times. */
export async function flowControlCostBench(): Promise<void> {
  const variants = { "no limits": () => undefined, "plain limits": plainLimits, "flow control": flowControl };
  for (let round = 0; round < 3; round++)
    for (const [name, make] of Object.entries(variants))
      console.log(`${name}: ${(await measure(make())).toFixed(2)} µs of CPU time for each request`);
}
