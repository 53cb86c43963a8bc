/**
 * The requests of one queue.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing/queueset/fifo_list.go.
 */
import { LinkedList, type Member } from "../linked-list/linked-list.ts";
import type { Flow, QueueDump, Ticket, WorkEstimate } from "./contract.ts";
import { formatSeatSeconds, nsOf, seatsTimesNs } from "./seat-seconds.ts";

/** Assumed duration of a request until it has ended (G in the KEP): 3 ms. */
export const estimatedDurationNs = 3e6;

/** A request, with what only the queue set changes. */
export class QueuedRequest<Descriptor> implements Ticket<Descriptor> {
  readonly flow: Flow;
  readonly work: WorkEstimate;
  readonly descriptor: Descriptor;
  readonly arrivedAt: number;
  /** Virtual time of the arrival. */
  arrivalR: number;
  state: "waiting" | "executing" | "done" = "waiting";
  startedAt = Number.NaN;
  /** Whether narrow requests can use the seats. */
  lendsSeats = false;
  /** Undefined for a request that executes without a queue. */
  queue: Queue<Descriptor> | undefined;
  /** The estimate's final seats and latency, adapted to the concurrency limit at the dispatch. */
  finalSeats: number;
  latencyNs: number;
  /** Seat-seconds until the end, and after it. */
  readonly totalWork: number;
  readonly finalWork: number;
  readonly onStart: (ticket: Ticket<Descriptor>) => void;
  /** Its place in the list that contains it. */
  place: Member<QueuedRequest<Descriptor>> | undefined;

  constructor(
    request: Pick<QueuedRequest<Descriptor>, "flow" | "work" | "descriptor" | "onStart">,
    arrival: { readonly at: number; readonly r: number },
  ) {
    const { work } = request;
    this.flow = request.flow;
    this.work = work;
    this.descriptor = request.descriptor;
    this.onStart = request.onStart;
    this.arrivedAt = arrival.at;
    this.arrivalR = arrival.r;
    this.finalSeats = work.finalSeats;
    this.latencyNs = work.additionalLatencyMs === 0 ? 0 : nsOf(work.additionalLatencyMs);
    this.finalWork = this.latencyNs === 0 ? 0 : seatsTimesNs(work.finalSeats, this.latencyNs);
    this.totalWork = seatsTimesNs(work.initialSeats, estimatedDurationNs) + this.finalWork;
    this.queue = undefined;
    this.place = undefined;
  }

  /** Whether the request can use seats that others lend. */
  get isNarrow(): boolean {
    return this.work.initialSeats <= 1;
  }

  /** The seats that the request occupies from its start to its end, latency included. */
  get maxSeats(): number {
    return Math.max(this.work.initialSeats, this.finalSeats);
  }
}

/** Adds a request that is in no list. */
export function addTo<Descriptor>(
  list: LinkedList<QueuedRequest<Descriptor>>,
  request: QueuedRequest<Descriptor>,
): void {
  request.place = list.add(request);
}

/** Removes a request from the list that contains it. */
export function removeFrom<Descriptor>(
  list: LinkedList<QueuedRequest<Descriptor>>,
  request: QueuedRequest<Descriptor>,
): void {
  if (request.place !== undefined) list.remove(request.place);
  request.place = undefined;
}

/** One queue. */
export class Queue<Descriptor> {
  /** Position in the queue set; -1 after the queue was removed from it. */
  index: number;
  readonly waiting = new LinkedList<QueuedRequest<Descriptor>>();
  readonly executing = new LinkedList<QueuedRequest<Descriptor>>();
  /** Virtual time at which the next request is dispatched. */
  nextDispatchR = 0;
  /** Seats of executing requests and of those whose additional latency lasts. */
  seatsInUse = 0;
  /** Sums over the waiting requests. */
  initialSeatsSum = 0;
  maxSeatsSum = 0;
  totalWorkSum = 0;

  constructor(index: number) {
    this.index = index;
  }

  get isEmpty(): boolean {
    return this.waiting.size === 0 && this.executing.size === 0;
  }

  enqueue(request: QueuedRequest<Descriptor>): void {
    addTo(this.waiting, request);
    this.#count(request, 1);
  }

  dequeue(request: QueuedRequest<Descriptor>): void {
    removeFrom(this.waiting, request);
    this.#count(request, -1);
  }

  #count(request: QueuedRequest<Descriptor>, change: 1 | -1): void {
    this.initialSeatsSum += change * request.work.initialSeats;
    this.maxSeatsSum += change * request.maxSeats;
    this.totalWorkSum += change * request.totalWork;
  }

  /**
   * Keeps a queue that uses less than its share, and does not become empty, from saving the rest:
   * no request is dispatched at a virtual time before its arrival.
   */
  boundNextDispatch(): void {
    const oldest = this.waiting.first;
    if (oldest !== undefined && this.nextDispatchR < oldest.arrivalR) this.nextDispatchR = oldest.arrivalR;
  }

  dump(): QueueDump<Descriptor> {
    return {
      nextDispatch: formatSeatSeconds(this.nextDispatchR),
      waiting: [...this.waiting],
      executing: [...this.executing],
      seatsInUse: this.seatsInUse,
      initialSeatsSum: this.initialSeatsSum,
      maxSeatsSum: this.maxSeatsSum,
      totalWorkSum: formatSeatSeconds(this.totalWorkSum),
    };
  }
}
