/**
 * The queues and seats of a priority level. Each queue gets an equal share of the seats, in
 * seat-seconds: a virtual time R advances by the seat-seconds that each queue with requests should
 * get, a queue's next request has a virtual start, and the request with the earliest virtual end is
 * dispatched next. Source: KEP-1040, "Fair Queuing for Server Requests", and
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/fairqueuing/queueset.
 */

import { LinkedList } from "../linked-list/linked-list.ts";
import type {
  FairQueuingClock,
  Flow,
  Progress,
  QueueSet,
  QueueSetCounts,
  QueueSetDump,
  QueueSetObserver,
  QueuingConfig,
  Rejection,
  Ticket,
  WorkEstimate,
} from "./contract.ts";
import { checkDeal, dealHand } from "./deal.ts";
import { addTo, estimatedDurationNs, Queue, QueuedRequest, removeFrom } from "./queue.ts";
import { nsOf, nsPerSeat, seatsTimesNs, toSeatSeconds } from "./seat-seconds.ts";

/**
 * The virtual time at which it is wound back by multiples of `epoch`, so that all sums stay exact:
 * hours of the largest level.
 */
const epochEnd = 2 ** 51;
const epoch = 2 ** 50;

/** The queues and seats of one level. */
export class FairQueueSet<Descriptor> implements QueueSet<Descriptor> {
  readonly #clock: FairQueuingClock;
  readonly #observer: QueueSetObserver;
  #config: QueuingConfig = { queues: 0, handSize: 1, queueLengthMax: 1 };
  #limit = 0;
  /** More than configured while surplus queues have requests. */
  #queues: Queue<Descriptor>[] = [];
  readonly #queueless = new LinkedList<QueuedRequest<Descriptor>>();
  #hand: number[] = [];
  #currentR = 0;
  #lastTime: number;
  /** The queue that was dispatched last. */
  #robinIndex = 0;
  /** Queues with requests, and the seats of all queues, in use and waiting for. */
  #activeQueues = 0;
  #queuedSeats = 0;
  #waiting = 0;
  #executing = 0;
  #seatsInUse = 0;
  /** Of requests that lend them, and the number of these requests. */
  #seatsLent = 0;
  #lending = 0;
  #seatsWaiting = 0;
  #enqueues = 0;
  /** The request that `start` is about to return. */
  #arriving: QueuedRequest<Descriptor> | undefined;
  #dispatched = 0;
  #rejected = 0;
  #cancelled = 0;
  #dispatchR = 0;
  #latestStart = 0;
  #nextStart = { min: 0, max: 0 };
  #discounted = { min: 0, max: 0 };

  /** Starts without queues and without seats; see `configure` and `setConcurrencyLimit`. */
  constructor(clock: FairQueuingClock, observer: QueueSetObserver) {
    this.#clock = clock;
    this.#observer = observer;
    this.#lastTime = clock.now();
  }

  configure({ queues, handSize, queueLengthMax }: QueuingConfig): void {
    const problem = queues > 0 ? checkDeal(queues, handSize) : undefined;
    if (problem !== undefined) throw new RangeError(problem);
    this.#syncTime();
    if (queues > 0) {
      this.#config = { queues, handSize, queueLengthMax };
      this.#hand = new Array(handSize).fill(0);
    } else this.#config = { ...this.#config, queues };
    this.#dispatchAll();
  }

  setConcurrencyLimit(seats: number): void {
    this.#syncTime();
    this.#limit = seats;
    this.#dispatchAll();
  }

  start(
    flow: Flow,
    work: WorkEstimate,
    descriptor: Descriptor,
    onStart: (ticket: Ticket<Descriptor>) => void,
  ): Ticket<Descriptor> | Rejection {
    const now = this.#syncTime();
    const isQueued = this.#config.queues > 0;
    const request = new QueuedRequest({ flow, work, descriptor, onStart }, { at: now, r: this.#currentR });
    return isQueued ? this.#startQueued(request, now) : this.#startQueueless(request, now);
  }

  #startQueueless(request: QueuedRequest<Descriptor>, now: number): Ticket<Descriptor> | Rejection {
    if (!this.#hasSeats(request)) {
      this.#rejected++;
      return "concurrency-limit";
    }
    addTo(this.#queueless, request);
    this.#execute(request, now);
    return request;
  }

  #startQueued(request: QueuedRequest<Descriptor>, now: number): Ticket<Descriptor> | Rejection {
    const queue = this.#chooseQueue(request.flow);
    if (this.#seatsFor(request) >= this.#limit && queue.waiting.size >= this.#config.queueLengthMax) {
      queue.boundNextDispatch();
      this.#rejected++;
      return "queue-full";
    }
    request.queue = queue;
    if (queue.isEmpty) {
      queue.nextDispatchR = this.#currentR;
      this.#activeQueues++;
    }
    if (this.#waiting === 0 && this.#seatsFor(request) < this.#limit && this.#hasSeats(request)) {
      this.#startAtOnce(queue, request, now);
      return request;
    }
    this.#enqueue(queue, request);
    this.#arriving = request;
    this.#dispatchAll();
    this.#arriving = undefined;
    return request;
  }

  /** The same as to enqueue and dispatch the request when no other one waits. */
  #startAtOnce(queue: Queue<Descriptor>, request: QueuedRequest<Descriptor>, now: number): void {
    if (queue.nextDispatchR < this.#currentR) queue.nextDispatchR = this.#currentR;
    this.#observer.queueLength(request.flow, 1);
    this.#noteDispatch(queue.nextDispatchR, discountedStart(queue));
    this.#robinIndex = queue.index;
    this.#dispatchFrom(queue, request, now);
  }

  #enqueue(queue: Queue<Descriptor>, request: QueuedRequest<Descriptor>): void {
    queue.enqueue(request);
    queue.boundNextDispatch();
    this.#countWaiting(request, 1);
    this.#observer.queueLength(request.flow, queue.waiting.size);
  }

  /** The queue of the flow's hand with the least work; the first of several differs each time. */
  #chooseQueue({ hash }: Flow): Queue<Descriptor> {
    const hand = this.#hand;
    this.#addQueues();
    dealHand(hash, this.#config.queues, hand);
    const offset = this.#enqueues++ % hand.length;
    let chosen = this.#queues[hand[offset] as number] as Queue<Descriptor>;
    for (let step = 1; step < hand.length; step++) {
      const queue = this.#queues[hand[(offset + step) % hand.length] as number] as Queue<Descriptor>;
      if (queue.totalWorkSum < chosen.totalWorkSum) chosen = queue;
    }
    return chosen;
  }

  /** Not before a request needs them: many levels of most servers get none. */
  #addQueues(): void {
    for (let index = this.#queues.length; index < this.#config.queues; index++) this.#queues.push(new Queue(index));
  }

  lendSeats(ticket: Ticket<Descriptor>): void {
    const request = ticket as QueuedRequest<Descriptor>;
    if (request.state !== "executing" || request.lendsSeats) return;
    this.#syncTime();
    request.lendsSeats = true;
    this.#seatsLent += request.maxSeats;
    this.#lending++;
    this.#dispatchAll();
  }

  finish(ticket: Ticket<Descriptor>): void {
    const request = ticket as QueuedRequest<Descriptor>;
    if (request.state !== "executing") throw new Error("only an executing request can be finished");
    const now = this.#syncTime();
    request.state = "done";
    this.#executing--;
    if (request.lendsSeats) this.#lending--;
    this.#observer.executing(request.flow, -1, now);
    const { queue } = request;
    if (queue === undefined) removeFrom(this.#queueless, request);
    else this.#endIn(queue, request, now);
    if (request.latencyNs <= 0) this.#releaseSeats(request);
    else this.#clock.after(request.latencyNs / 1e6, () => this.#endLatency(request));
    this.#dispatchAll();
  }

  /** Corrects the queue's virtual start: the request took another time than estimated. */
  #endIn(queue: Queue<Descriptor>, request: QueuedRequest<Descriptor>, now: number): void {
    removeFrom(queue.executing, request);
    if (queue.isEmpty) this.#activeQueues--;
    const tookNs = nsOf(now - request.startedAt);
    queue.nextDispatchR -= seatsTimesNs(request.work.initialSeats, estimatedDurationNs - tookNs);
    queue.boundNextDispatch();
  }

  #endLatency(request: QueuedRequest<Descriptor>): void {
    this.#syncTime();
    this.#releaseSeats(request);
    this.#dispatchAll();
  }

  #releaseSeats({ flow, queue, maxSeats, lendsSeats }: QueuedRequest<Descriptor>): void {
    this.#seatsInUse -= maxSeats;
    if (lendsSeats) this.#seatsLent -= maxSeats;
    this.#observer.seatsInUse(flow, -maxSeats, this.#lastTime);
    this.#observer.seatDemand(this.#seatsInUse + this.#seatsWaiting, this.#lastTime);
    if (queue === undefined) return;
    queue.seatsInUse -= maxSeats;
    if (queue.index < 0) return; // Upstream removes another queue here, or panics.
    this.#queuedSeats -= maxSeats;
    if (this.#queues.length > this.#config.queues && queue.isEmpty) this.#removeQueue(queue);
  }

  #removeQueue(queue: Queue<Descriptor>): void {
    this.#queues.splice(queue.index, 1);
    for (let index = queue.index; index < this.#queues.length; index++)
      (this.#queues[index] as { index: number }).index--;
    if (this.#robinIndex >= queue.index) this.#robinIndex--;
    this.#queuedSeats -= queue.seatsInUse;
    queue.index = -1;
  }

  cancel(ticket: Ticket<Descriptor>): boolean {
    const request = ticket as QueuedRequest<Descriptor>;
    const { queue } = request;
    if (request.state !== "waiting" || queue === undefined) return false;
    this.#syncTime();
    request.state = "done";
    queue.dequeue(request);
    if (queue.isEmpty) this.#activeQueues--;
    queue.boundNextDispatch();
    this.#rejected++;
    this.#cancelled++;
    this.#countWaiting(request, -1);
    return true;
  }

  #countWaiting({ flow, maxSeats }: QueuedRequest<Descriptor>, change: 1 | -1): void {
    this.#waiting += change;
    this.#seatsWaiting += change * maxSeats;
    this.#queuedSeats += change * maxSeats;
    this.#observer.waiting(flow, change, maxSeats, this.#lastTime);
    this.#observer.seatDemand(this.#seatsInUse + this.#seatsWaiting, this.#lastTime);
  }

  /** The seats in use that a request counts. */
  #seatsFor({ isNarrow }: QueuedRequest<Descriptor>): number {
    return isNarrow ? this.#seatsInUse - this.#seatsLent : this.#seatsInUse;
  }

  #hasSeats(request: QueuedRequest<Descriptor>): boolean {
    if (this.#config.queues < 0) return true;
    const { maxSeats, isNarrow } = request;
    // A request that is wider than the limit executes alone.
    if (maxSeats > this.#limit) return this.#executing === (isNarrow ? this.#lending : 0);
    return this.#seatsFor(request) + maxSeats <= this.#limit;
  }

  #dispatchAll(): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) if (!this.#dispatch(isAny)) break;
    if (this.#seatsLent === 0) return;
    while (this.#waiting > 0 && this.#seatsInUse - this.#seatsLent < this.#limit) if (!this.#dispatch(isNarrow)) return;
  }

  /** @returns false if the next eligible request needs more seats than are free */
  #dispatch(isEligible: (request: QueuedRequest<Descriptor>) => boolean): boolean {
    const queue = this.#nextQueue(isEligible);
    if (queue === undefined) return false;
    const request = queue.waiting.first as QueuedRequest<Descriptor>;
    if (!this.#hasSeats(request)) {
      this.#observer.noAccommodation(request.flow);
      return false;
    }
    queue.dequeue(request);
    this.#countWaiting(request, -1);
    this.#robinIndex = queue.index; // The other queues are first if several have the same virtual end.
    this.#noteDispatch(queue.nextDispatchR, undefined);
    this.#dispatchFrom(queue, request, this.#lastTime);
    queue.boundNextDispatch();
    if (request !== this.#arriving) request.onStart(request);
    return true;
  }

  #dispatchFrom(queue: Queue<Descriptor>, request: QueuedRequest<Descriptor>, now: number): void {
    // The work stays the same: with fewer seats the latency is longer. The seats that wait were counted
    // down before; upstream counts them down now, by fewer seats, so that its demand grows forever.
    if (request.finalSeats > this.#limit) {
      request.finalSeats = this.#limit;
      request.latencyNs = nsPerSeat(request.finalWork, this.#limit);
    }
    addTo(queue.executing, request);
    const seats = request.maxSeats;
    queue.seatsInUse += seats;
    this.#queuedSeats += seats;
    queue.nextDispatchR += request.totalWork;
    this.#execute(request, now);
  }

  #execute(request: QueuedRequest<Descriptor>, now: number): void {
    const seats = request.maxSeats;
    request.state = "executing";
    request.startedAt = now;
    this.#executing++;
    this.#seatsInUse += seats;
    this.#dispatched++;
    this.#observer.executing(request.flow, 1, now);
    this.#observer.seatsInUse(request.flow, seats, now);
    this.#observer.seatDemand(this.#seatsInUse + this.#seatsWaiting, this.#lastTime);
  }

  /** The queue whose oldest request has the earliest virtual end, among eligible ones. */
  #nextQueue(isEligible: (request: QueuedRequest<Descriptor>) => boolean): Queue<Descriptor> | undefined {
    const count = this.#queues.length;
    let earliest = Number.POSITIVE_INFINITY;
    let found: Queue<Descriptor> | undefined;
    const start = this.#nextStart;
    const discounted = this.#discounted;
    start.min = discounted.min = Number.POSITIVE_INFINITY;
    start.max = discounted.max = Number.NEGATIVE_INFINITY;
    for (let step = 1; step <= count; step++) {
      const queue = this.#queues[(this.#robinIndex + step) % count] as Queue<Descriptor>;
      const oldest = queue.waiting.first;
      if (oldest === undefined || !isEligible(oldest)) continue;
      widen(start, queue.nextDispatchR);
      widen(discounted, discountedStart(queue));
      const end = queue.nextDispatchR + oldest.totalWork;
      if (end >= earliest) continue;
      earliest = end;
      found = queue;
    }
    return found;
  }

  /** @param discounted the discounted start of the only queue with requests; else undefined */
  #noteDispatch(start: number, discounted: number | undefined): void {
    this.#dispatchR = this.#currentR;
    this.#latestStart = start;
    if (discounted === undefined) return;
    this.#nextStart.min = this.#nextStart.max = start;
    this.#discounted.min = this.#discounted.max = discounted;
  }

  /** Advances the virtual time to now; called before anything changes. @returns now */
  #syncTime(): number {
    const now = this.#clock.now();
    const ns = nsOf(now - this.#lastTime);
    this.#lastTime = now;
    if (this.#activeQueues > 0 && ns !== 0) {
      const seatsPerQueue = Math.min(this.#queuedSeats, this.#limit) / this.#activeQueues;
      this.#currentR += seatsTimesNs(seatsPerQueue, ns);
      if (this.#currentR >= epochEnd) this.#advanceEpoch();
    }
    return now;
  }

  #advanceEpoch(): void {
    const change = Math.floor(this.#currentR / epoch) * epoch;
    this.#currentR -= change;
    for (const queue of this.#queues) {
      queue.nextDispatchR = queue.isEmpty ? 0 : queue.nextDispatchR - change;
      for (const request of queue.waiting) request.arrivalR -= change;
    }
    this.#observer.epochAdvance();
  }

  get idle(): boolean {
    return this.#waiting === 0 && this.#executing === 0;
  }

  get counts(): QueueSetCounts {
    return {
      concurrencyLimit: this.#limit,
      waiting: this.#waiting,
      executing: this.#executing,
      seatsInUse: this.#seatsInUse,
      seatsLent: this.#seatsLent,
      seatsWaiting: this.#seatsWaiting,
      dispatched: this.#dispatched,
      rejected: this.#rejected,
      cancelled: this.#cancelled,
    };
  }

  get progress(): Progress {
    return {
      current: toSeatSeconds(this.#currentR),
      dispatch: toSeatSeconds(this.#dispatchR),
      latestStart: toSeatSeconds(this.#latestStart),
      nextStartMin: toSeatSeconds(this.#nextStart.min),
      nextStartMax: toSeatSeconds(this.#nextStart.max),
      discountedMin: toSeatSeconds(this.#discounted.min),
      discountedMax: toSeatSeconds(this.#discounted.max),
    };
  }

  dump(): QueueSetDump<Descriptor> {
    this.#addQueues();
    return { ...this.counts, queues: this.#queues.map((queue) => queue.dump()), queueless: [...this.#queueless] };
  }
}

const isAny = (): boolean => true;
const isNarrow = <Descriptor>(request: QueuedRequest<Descriptor>): boolean => request.isNarrow;

function discountedStart<Descriptor>({ nextDispatchR, seatsInUse }: Queue<Descriptor>): number {
  return nextDispatchR - seatsTimesNs(seatsInUse, estimatedDurationNs);
}

function widen(bounds: { min: number; max: number }, value: number): void {
  if (value < bounds.min) bounds.min = value;
  if (value > bounds.max) bounds.max = value;
}
