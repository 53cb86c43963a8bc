/**
 * Fair queuing of the requests of one priority level. Source: KEP-1040, "Fair Queuing for Server
 * Requests", and k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing.
 */

/** How much a request occupies. Source: pkg/util/flowcontrol/request/width.go. */
export interface WorkEstimate {
  /** Seats while the request executes. */
  readonly initialSeats: number;
  /** Seats after the request has executed, for the additional latency. */
  readonly finalSeats: number;
  /** How long the seats stay occupied after the request has executed; the client does not wait. */
  readonly additionalLatencyMs: number;
}

/** 64 bits that select the queues of a flow, as two unsigned halves. */
export interface FlowHash {
  readonly high: number;
  readonly low: number;
}

/** The requests of one FlowSchema that share a distinguisher. */
export interface Flow {
  /** The name of the FlowSchema. */
  readonly schema: string;
  /** The user or the namespace; empty when the FlowSchema does not distinguish flows. */
  readonly distinguisher: string;
  readonly hash: FlowHash;
}

/** How requests of a priority level are queued. */
export interface QueuingConfig {
  /**
   * The number of queues. 0 rejects requests that cannot execute at once. A negative number
   * executes all requests at once (exempt levels).
   */
  readonly queues: number;
  /** Queues among which the one of a request is chosen. Ignored unless there are queues. */
  readonly handSize: number;
  /** Requests that can wait in one queue. Ignored unless there are queues. */
  readonly queueLengthMax: number;
}

/** A request that was not rejected. It must be finished or cancelled exactly once. */
export interface Ticket<Descriptor> {
  readonly flow: Flow;
  readonly work: WorkEstimate;
  /** The caller's description of the request, for `dump`. */
  readonly descriptor: Descriptor;
  readonly state: "waiting" | "executing" | "done";
  /** On the clock of the queue set. */
  readonly arrivedAt: number;
  /** On the clock of the queue set; NaN while the request waits. */
  readonly startedAt: number;
}

/**
 * Why a request is rejected at once: the level has no queues and its seats are in use, or the queue
 * of the request is full and the seats are in use.
 */
export type Rejection = "concurrency-limit" | "queue-full";

/** Queues and seats of one priority level. All functions are synchronous. */
export interface QueueSet<Descriptor> {
  /**
   * Changes the number and the length of the queues. Requests that wait or execute stay. Surplus
   * queues are removed when they are empty.
   * @throws RangeError if the hash of a flow has too few bits for these numbers (`checkDeal`)
   */
  configure(config: QueuingConfig): void;
  /** Changes the seats that can be in use at once; starts requests if there are more. */
  setConcurrencyLimit(seats: number): void;
  /**
   * Executes a request, queues it, or rejects it.
   * @param onStart called when a request that waited starts, from the call that freed its seats; it
   *   must not call the queue set. It is not called if the request starts at once.
   */
  start(
    flow: Flow,
    work: WorkEstimate,
    descriptor: Descriptor,
    onStart: (ticket: Ticket<Descriptor>) => void,
  ): Ticket<Descriptor> | Rejection;
  /**
   * Lends the seats of a request that executes to requests of one initial seat, because it proceeds
   * in turns that do not delay them. Others still count the seats. Upstream has no such function.
   */
  lendSeats(ticket: Ticket<Descriptor>): void;
  /**
   * Ends the execution of a request and starts those for which there are seats now.
   * @throws Error if the request does not execute
   */
  finish(ticket: Ticket<Descriptor>): void;
  /**
   * Removes a request whose time in the queue is over, or whose client disconnected.
   * @returns false if the request does not wait
   */
  cancel(ticket: Ticket<Descriptor>): boolean;
  /** Whether no request waits or executes. */
  readonly idle: boolean;
  /** Requests and seats now, and requests since the start. */
  readonly counts: QueueSetCounts;
  /** The virtual time, and how it was when a request was last dispatched, in seat-seconds. */
  readonly progress: Progress;
  /** The state of all queues and requests. */
  dump(): QueueSetDump<Descriptor>;
}

/** Counts of a queue set. */
export interface QueueSetCounts {
  readonly concurrencyLimit: number;
  readonly waiting: number;
  readonly executing: number;
  readonly seatsInUse: number;
  /** Those in use that are lent; requests of one initial seat do not count them. */
  readonly seatsLent: number;
  readonly seatsWaiting: number;
  readonly dispatched: number;
  readonly rejected: number;
  readonly cancelled: number;
}

/** Virtual times in seat-seconds, for metrics. */
export interface Progress {
  readonly current: number;
  /** The virtual time when a request was last dispatched. */
  readonly dispatch: number;
  /** The virtual start of the request that was last dispatched. */
  readonly latestStart: number;
  /** Virtual starts of the queues at the last dispatch. */
  readonly nextStartMin: number;
  readonly nextStartMax: number;
  /** The same, minus the estimated work in progress. */
  readonly discountedMin: number;
  readonly discountedMax: number;
}

/** The state of a queue set. */
export interface QueueSetDump<Descriptor> extends QueueSetCounts {
  readonly queues: readonly QueueDump<Descriptor>[];
  /** Requests that execute without a queue. */
  readonly queueless: readonly Ticket<Descriptor>[];
}

/** The state of a queue. */
export interface QueueDump<Descriptor> {
  /** Seat-seconds, formatted as upstream formats them, such as `12.00300000ss`. */
  readonly nextDispatch: string;
  readonly waiting: readonly Ticket<Descriptor>[];
  readonly executing: readonly Ticket<Descriptor>[];
  readonly seatsInUse: number;
  /** Sums over the waiting requests. */
  readonly initialSeatsSum: number;
  readonly maxSeatsSum: number;
  /** Seat-seconds, formatted. */
  readonly totalWorkSum: string;
}

/**
 * Notified of each change of a queue set, for metrics. Its functions must not throw. `at` is the
 * time of the change, on the clock of the queue set, so that the observers need not read it again.
 */
export interface QueueSetObserver {
  /** A request entered a queue (1) or left it (-1). */
  waiting(flow: Flow, requests: 1 | -1, seats: number, at: number): void;
  /** A request started (1) or ended (-1). */
  executing(flow: Flow, requests: 1 | -1, at: number): void;
  /** Seats were taken or freed. They are freed after the additional latency. */
  seatsInUse(flow: Flow, change: number, at: number): void;
  /** The seats in use and of waiting requests, after each change. */
  seatDemand(seats: number, at: number): void;
  /** The length of the queue that a new request entered, with this request. */
  queueLength(flow: Flow, length: number): void;
  /** The request that is next cannot start, because it needs more seats than are free. */
  noAccommodation(flow: Flow): void;
  /** The virtual time was wound back to keep its precision. */
  epochAdvance(): void;
}

/** The clock of queue sets and integrators. */
export interface FairQueuingClock {
  /** Milliseconds since any fixed time, with fractions; never decreases. */
  now(): number;
  /** Calls `run` once after the delay. */
  after(delayMs: number, run: () => void): unknown;
}
