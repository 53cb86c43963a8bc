/**
 * The filter of flow control: a request waits until its priority level has seats, or is rejected.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/filters/priority-and-fairness.go.
 */
import { type Clock, realClock } from "../apimachinery/clock.ts";
import type { FairQueuingClock, Ticket } from "../lib/fair-queuing/contract.ts";
import type { EventLoopTurns } from "../lib/fair-queuing/event-loop-turns.ts";
import type { Filter, RequestState } from "../request/context.ts";
import { isLongRunning } from "../request/request-info.ts";
import type { FlowControlObserver, RejectReason } from "./contract.ts";
import { type ActiveSchema, flowOf, type Levels } from "./levels.ts";
import { kindOf, rejectRequest } from "./reject.ts";
import { whenServed } from "./when-served.ts";
import type { EstimateWork } from "./width/estimate-work.ts";
import type { WatchCounts } from "./width/watch-counts.ts";

/** A request that flow control tracks. */
export interface TrackedRequest {
  /** Undefined after its end, so that little survives with the ticket until a full collection of garbage. */
  readonly context: RequestState | undefined;
  /** Called when the request starts after it has waited. */
  readonly started: () => void;
}

interface FilterOptions {
  /** The configuration in effect. */
  readonly levels: () => Levels<TrackedRequest>;
  /** Called when a deleted level has no more requests. */
  readonly quiesced: () => void;
  readonly estimate: EstimateWork;
  readonly watches: WatchCounts;
  readonly observer: FlowControlObserver;
  readonly clock: Clock;
  readonly fairClock: FairQueuingClock;
  readonly turns: EventLoopTurns;
  /** The limit of all requests except watches, in milliseconds. */
  readonly requestTimeoutMs: number;
  /** Called for each rejected request. */
  readonly rejected: (context: RequestState) => void;
}

type Schema = ActiveSchema<TrackedRequest>;

/** No request waits longer. */
const waitMaxMs = 60_000;
/** The part of its time limit that a request can wait. */
const waitFraction = 4;

/** Creates the filter. Connections and profiles are not limited. */
export function flowControlFilter(options: FilterOptions): Filter {
  return (context) => {
    const { info } = context;
    if (info.verb !== "watch" && isLongRunning(info)) return;
    const schema = options.levels().classify(context);
    context.headers["x-kubernetes-pf-flowschema-uid"] = schema.uid;
    context.headers["x-kubernetes-pf-prioritylevel-uid"] = schema.state.config.uid;
    return start(options, context, schema);
  };
}

function start(options: FilterOptions, context: RequestState, schema: Schema): void | Promise<void> {
  const { estimate, fairClock } = options;
  const { state } = schema;
  const flow = flowOf(schema, context);
  const { observer } = flow;
  const work = estimate(context.info, state.widthMax, (watches) => observer.watchCount(watches));
  observer.estimated(Math.max(work.initialSeats, work.finalSeats));
  const request = new WaitingRequest(context);
  const ticket = state.queues.start(flow, work, request, startWaiting);
  const { isExempt } = state.config;
  if (typeof ticket === "string") {
    observer.waited(0, false);
    throw reject(options, context, schema, ticket);
  }
  if (ticket.state === "executing") {
    if (!isExempt) observer.waited(0, true);
    execute(options, context, schema, ticket, request);
    return takeTurns(options, context, schema, ticket);
  }
  return request.wait(options, context, schema, ticket).then((reason) => {
    observer.waited((fairClock.now() - ticket.arrivedAt) / 1000, reason === undefined);
    if (reason !== undefined) throw reject(options, context, schema, reason);
    execute(options, context, schema, ticket, request);
    return takeTurns(options, context, schema, ticket);
  });
}

/** The share of the event loop of exempt requests, relative to the seats of other levels. */
const exemptWeight = 1000;

/**
 * Divides the time of the event loop, which seats do not: see docs/flow-control.md. Exempt requests
 * start at once.
 */
function takeTurns(
  { turns }: FilterOptions,
  context: RequestState,
  { state: { name, config, limits, queues } }: Schema,
  ticket: Ticket<TrackedRequest>,
): Promise<void> | undefined {
  const weight = config.isExempt ? exemptWeight : Math.max(1, limits.nominal);
  const share = { level: name, weight, flow: ticket.flow };
  context.turnWithSeats = (work) => turns.piece(share, work);
  context.turn = (work) => {
    queues.lendSeats(ticket);
    return turns.piece(share, work);
  };
  return config.isExempt ? undefined : turns.request(share);
}

const startWaiting = ({ descriptor }: Ticket<TrackedRequest>): void => descriptor.started();

const startedAtOnce = (): void => {};

class WaitingRequest implements TrackedRequest {
  context: RequestState | undefined;
  started = startedAtOnce;

  constructor(context: RequestState) {
    this.context = context;
  }

  /** @returns why the request does not start; undefined when it starts */
  wait(
    options: FilterOptions,
    context: RequestState,
    schema: Schema,
    ticket: Ticket<TrackedRequest>,
  ): Promise<RejectReason | undefined> {
    const { clock, observer } = options;
    const kind = kindOf(context);
    observer.waiting(kind, 1);
    return new Promise((resolve) => {
      const leave = (reason: RejectReason | undefined): void => {
        cancelTimer();
        observer.waiting(kind, -1);
        resolve(reason);
      };
      const giveUp = (): void => {
        if (!schema.state.queues.cancel(ticket)) return;
        leave("time-out");
        removeIfLast(options, schema);
      };
      const cancelTimer = realClock(clock).after(
        waitLimitMs(options, context) - (clock.now() - context.receivedAt),
        giveUp,
      );
      this.started = () => leave(undefined);
      context.exchange.onClose(giveUp);
    });
  }
}

/** Since the arrival of the request, in milliseconds. */
function waitLimitMs({ requestTimeoutMs }: FilterOptions, { endsAt, receivedAt }: RequestState): number {
  const limit = Number.isFinite(endsAt) ? endsAt - receivedAt : requestTimeoutMs;
  return Math.min(limit / waitFraction, waitMaxMs);
}

function reject(
  { rejected, clock }: FilterOptions,
  context: RequestState,
  { state, flows }: Schema,
  reason: RejectReason,
): Error {
  flows.observer.rejected(reason);
  rejected(context);
  return rejectRequest(context, state.retryAfter.reject(Math.floor(clock.now() / 1000)));
}

/** Occupies the seats until the request is served. */
function execute(
  options: FilterOptions,
  context: RequestState,
  schema: Schema,
  ticket: Ticket<TrackedRequest>,
  request: WaitingRequest,
): void {
  const { observer, fairClock, watches } = options;
  const { state, flows } = schema;
  const kind = kindOf(context);
  const isWatch = context.info.verb === "watch";
  observer.executing(kind, 1);
  flows.observer.dispatched();
  if (isWatch) context.exchange.onClose(watches.add(context.info));
  whenServed(context, () => {
    observer.executing(kind, -1);
    flows.observer.executed((fairClock.now() - ticket.startedAt) / 1000, isWatch ? "watch" : "regular");
    state.queues.finish(ticket);
    request.context = undefined;
    removeIfLast(options, schema);
  });
}

/** A deleted level is removed after its last request. */
function removeIfLast({ quiesced }: FilterOptions, { state }: Schema): void {
  if (state.isQuiescing && state.queues.idle) quiesced();
}
