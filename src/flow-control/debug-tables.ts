/**
 * The tables of `/debug/api_priority_and_fairness/`. Levels are sorted (upstream: in random order).
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller_debug.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import { formatGroupVersion } from "../apimachinery/object.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import type { FairQueuingClock, Ticket } from "../lib/fair-queuing/contract.ts";
import { formatNanoTime } from "../lib/schema/time.ts";
import { answerHeaders } from "../request/answer.ts";
import type { PathRoute, RequestState } from "../request/context.ts";
import type { TrackedRequest } from "./filter.ts";
import type { Level } from "./level.ts";
import type { Levels } from "./levels.ts";

type Cell = string | number | boolean;
type Row = readonly Cell[];
type TrackedLevel = Level<TrackedRequest>;

/** The clock of requests, and the one of their queues. */
interface Clocks {
  readonly clock: Clock;
  readonly fairClock: FairQueuingClock;
}

const levelColumns = [
  "PriorityLevelName",
  "ActiveQueues",
  "IsIdle",
  "IsQuiescing",
  "WaitingRequests",
  "ExecutingRequests",
  "DispatchedRequests",
  "RejectedRequests",
  "TimedoutRequests",
  "CancelledRequests",
];
const queueColumns = [
  "PriorityLevelName",
  "Index",
  "PendingRequests",
  "ExecutingRequests",
  "SeatsInUse",
  "NextDispatchR",
  "InitialSeatsSum",
  "MaxSeatsSum",
  "TotalWorkSum",
];
const requestColumns = [
  "PriorityLevelName",
  "FlowSchemaName",
  "QueueIndex",
  "RequestIndexInQueue",
  "FlowDistingsher",
  "ArriveTime",
  "InitialSeats",
  "FinalSeats",
  "AdditionalLatency",
  "StartTime",
];
const detailColumns = ["UserName", "Verb", "APIPath", "Namespace", "Name", "APIVersion", "Resource", "SubResource"];

/** The three tables. `?includeRequestDetails` adds columns to the table of requests. */
export function dumpRoutes(levels: () => Levels<TrackedRequest>, clocks: Clocks): PathRoute[] {
  const route = (name: string, rows: (context: RequestState) => Row[]): PathRoute => ({
    path: `/debug/api_priority_and_fairness/${name}`,
    handler(context) {
      const body = Buffer.from(formatTable(rows(context)));
      context.exchange.respond(200, answerHeaders(context, "text/plain; charset=utf-8"), body);
    },
  });
  return [
    route("dump_priority_levels", () => [levelColumns, ...levels().all().map(levelRow)]),
    route("dump_queues", () => [queueColumns, ...levels().all().flatMap(queueRows)]),
    route("dump_requests", ({ info }) => {
      const details = (info.query.get("includeRequestDetails") ?? "") !== "";
      const epochMs = clocks.clock.now() - clocks.fairClock.now();
      const header = details ? [...requestColumns, ...detailColumns] : requestColumns;
      return [
        header,
        ...levels()
          .all()
          .flatMap((level) => requestRows(level, epochMs, details)),
      ];
    }),
  ];
}

function levelRow({ name, queues, isQuiescing }: TrackedLevel): Row {
  const { queues: all, waiting, executing, dispatched, rejected, cancelled } = queues.dump();
  const active = all.filter((queue) => queue.waiting.length > 0).length;
  const timedOut = 0; // As upstream, requests that wait for too long are cancelled.
  return [name, active, queues.idle, isQuiescing, waiting, executing, dispatched, rejected, timedOut, cancelled];
}

function queueRows({ name, queues }: TrackedLevel): Row[] {
  return queues
    .dump()
    .queues.map((queue, index) => [
      name,
      index,
      queue.waiting.length,
      queue.executing.length,
      queue.seatsInUse,
      queue.nextDispatch,
      queue.initialSeatsSum,
      queue.maxSeatsSum,
      queue.totalWorkSum,
    ]);
}

function requestRows({ name, queues }: TrackedLevel, epochMs: number, details: boolean): Row[] {
  const row = (ticket: Ticket<TrackedRequest>, queue: number, position: number): Row => {
    const { context } = ticket.descriptor;
    return [
      name,
      ...requestCells(ticket, epochMs, queue, position),
      ...(details && context !== undefined ? detailCells(context) : []),
    ];
  };
  const { queues: all, queueless } = queues.dump();
  return [
    ...all.flatMap(({ waiting, executing }, index) => [
      ...waiting.map((ticket, position) => row(ticket, index, position)),
      ...executing.map((ticket) => row(ticket, index, -1)),
    ]),
    ...queueless.map((ticket) => row(ticket, -1, -1)),
  ];
}

function requestCells(
  { flow, work, arrivedAt, startedAt }: Ticket<TrackedRequest>,
  epochMs: number,
  queue: number,
  position: number,
): Row {
  const latency = formatDuration(BigInt(Math.round(work.additionalLatencyMs * 1e6)));
  const { schema, distinguisher } = flow;
  const { initialSeats, finalSeats } = work;
  const [arrival, start] = [formatTimeOf(epochMs + arrivedAt), formatTimeOf(epochMs + startedAt)];
  return [schema, queue, position, distinguisher, arrival, initialSeats, finalSeats, latency, start];
}

function detailCells({ user, info }: RequestState): Row {
  const { verb, path, namespace, name, group, version, resource, subresource } = info;
  return [user.name, verb, path, namespace, name, formatGroupVersion(group, version), resource, subresource];
}

/** @param ms since 1970, with fractions; NaN for requests that have not started */
function formatTimeOf(ms: number): string {
  if (Number.isNaN(ms)) return "0001-01-01T00:00:00Z";
  return formatNanoTime(Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6));
}

const cellMin = 8;

/** Aligns all columns except the last, as Go's text/tabwriter does. */
function formatTable(rows: readonly Row[]): string {
  const texts = rows.map((row) => row.map((cell, index) => (index < row.length - 1 ? `${cell},` : String(cell))));
  const widths = (texts[0] ?? []).map((_, column) =>
    Math.max(cellMin, ...texts.map((row) => (row[column] as string).length + 1)),
  );
  const line = (row: readonly string[]): string =>
    row.map((text, column) => (column < row.length - 1 ? text.padEnd(widths[column] as number) : text)).join("");
  return texts.map((row) => `${line(row)}\n`).join("");
}
