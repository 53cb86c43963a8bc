/**
 * Divides the time of the event loop: at most one slice of work runs in each turn of the loop, and
 * the other work waits. New requests are read between slices. Each slice goes to the level, and in
 * it to the flow, that has used the least time for its weight (start-time fair queuing: a level or
 * flow that was idle gets no credit for that).
 */

/** The level and the flow that work is charged to. */
export interface TurnShare {
  /** The name of the priority level. */
  readonly level: string;
  /** The level's share of the time, relative to others; more than 0. */
  readonly weight: number;
  /** Identifies the flow within the level, compared with `===`. */
  readonly flow: object;
}

/** The options of {@link FairTurns}. */
export interface TurnOptions {
  /** Calls `run` once after new requests were read: `setImmediate`. */
  readonly nextTurn: (run: () => void) => void;
  /** Work starts in a turn until this much was charged in it. */
  readonly sliceMs: number;
}

/** Runs synchronously. @returns the milliseconds to charge */
export type Work = () => number;

interface Flow {
  /** Virtual time at which the flow's next work starts. */
  startsAt: number;
  /** First in, first out; from `next` on. */
  waiting: ((flow: Flow) => void)[];
  next: number;
}

interface Level {
  /** Flows with work, and others that ran recently. */
  readonly flows: Map<object, Flow>;
  /** Flows with work. */
  readonly active: Set<Flow>;
  startsAt: number;
  /** The virtual start of the flow that ran last. */
  time: number;
}

/** Idle flows that a level remembers, so that they cannot return as new ones. */
const idleFlowsMax = 1000;

/** One slice per turn of the event loop. */
export class FairTurns {
  readonly #options: TurnOptions;
  readonly #levels = new Map<string, Level>();
  #waiting = 0;
  #time = 0;
  #chargedMs = 0;
  #isScheduled = false;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Work that waits for its turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs work: at once if no other work waits and the slice of this turn is not used up, else later.
   * @returns undefined if the work has run; else a promise that resolves when it has, and rejects if
   *   it throws
   */
  run(share: TurnShare, work: Work): Promise<void> | undefined {
    const level = this.#levelOf(share.level);
    if (this.#waiting === 0 && this.#chargedMs < this.#options.sliceMs) {
      this.#charge(level, share, flowOf(level, share.flow), work());
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.#wait(level, flowOf(level, share.flow), (flow) => {
        try {
          resolve(this.#charge(level, share, flow, work()));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #wait(level: Level, flow: Flow, work: (flow: Flow) => void): void {
    if (level.active.size === 0) level.startsAt = Math.max(level.startsAt, this.#time);
    if (flow.waiting.length === 0) {
      flow.startsAt = Math.max(flow.startsAt, level.time);
      level.active.add(flow);
    }
    flow.waiting.push(work);
    this.#waiting++;
    this.#schedule();
  }

  #charge(level: Level, { weight }: TurnShare, flow: Flow, ms: number): void {
    this.#chargedMs += ms;
    level.startsAt = Math.max(level.startsAt, this.#time) + ms / weight;
    flow.startsAt = Math.max(flow.startsAt, level.time) + ms;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.nextTurn(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    this.#chargedMs = 0;
    while (this.#waiting > 0 && this.#chargedMs < this.#options.sliceMs) this.#runNext();
    if (this.#waiting > 0) this.#schedule();
  };

  #runNext(): void {
    const level = earliest(this.#levels.values(), ({ active }) => active.size > 0);
    const flow = earliest(level.active.values(), () => true);
    this.#time = Math.max(this.#time, level.startsAt);
    level.time = Math.max(level.time, flow.startsAt);
    const work = flow.waiting[flow.next++] as (flow: Flow) => void;
    if (flow.next === flow.waiting.length) {
      flow.waiting = [];
      flow.next = 0;
      level.active.delete(flow);
    }
    this.#waiting--;
    work(flow);
  }

  #levelOf(name: string): Level {
    const known = this.#levels.get(name);
    if (known !== undefined) return known;
    const level: Level = { flows: new Map(), active: new Set(), startsAt: this.#time, time: 0 };
    this.#levels.set(name, level);
    return level;
  }
}

function flowOf(level: Level, key: object): Flow {
  const known = level.flows.get(key);
  if (known !== undefined) return known;
  if (level.flows.size - level.active.size >= idleFlowsMax) forgetIdle(level);
  const flow: Flow = { startsAt: level.time, waiting: [], next: 0 };
  level.flows.set(key, flow);
  return flow;
}

/** Forgets the idle flows that have used no more than their share; then others, until half is left. */
function forgetIdle({ flows, active, time }: Level): void {
  for (const [key, flow] of flows) if (!active.has(flow) && flow.startsAt <= time) flows.delete(key);
  let surplus = flows.size - active.size - idleFlowsMax / 2;
  for (const [key, flow] of flows) {
    if (surplus <= 0) return;
    if (active.has(flow)) continue;
    flows.delete(key);
    surplus--;
  }
}

function earliest<Candidate extends { readonly startsAt: number }>(
  candidates: Iterable<Candidate>,
  isEligible: (candidate: Candidate) => boolean,
): Candidate {
  let found: Candidate | undefined;
  for (const one of candidates)
    if (isEligible(one) && (found === undefined || one.startsAt < found.startsAt)) found = one;
  if (found === undefined) throw new Error("work waits, but no flow has some");
  return found;
}
