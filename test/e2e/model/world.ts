/** The state that all actors of the model share: clients, the clock, answers, and problems. */
import type { Http2Client } from "../../support/http2-client.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import type { WatchConnection } from "../../support/watch-connection.ts";
import { type Answered, type Collection, type State, stateOf, type View } from "./views.ts";

/** What had been answered when a request was sent: its answer must not be older. */
export interface Known {
  readonly revision: number;
  /** The number of answered deletions, whose revisions are not in the answers. */
  readonly deletions: number;
}

export interface Deletion {
  readonly collection: Collection;
  readonly uid: string;
  readonly known: Known;
  readonly sentAt: number;
}

export interface Write {
  readonly revision: number;
  readonly known: Known;
  readonly created: boolean;
  readonly sentAt: number;
}

export interface Listed {
  readonly what: string;
  readonly view: View;
  readonly revision: number;
  /** Undefined if any revision is allowed. */
  readonly known: Known | undefined;
  /** The key after which the list begins, if it is the rest of another. */
  readonly after: string;
  /** The last key that it covers; undefined if it is complete to the end. */
  readonly until: string | undefined;
  /** `key@revision` */
  readonly items: readonly string[];
}

export interface Got {
  readonly collection: Collection;
  readonly key: string;
  /** 0: not found. */
  readonly revision: number;
  readonly known: Known;
}

/** An answer 410. */
export interface Compacted {
  readonly what: string;
  readonly revision: number;
  readonly at: number;
  /** The newest answered revision at that time. */
  readonly answered: number;
}

export const eventTypes = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"] as const;

/** The events of one watch until it was cut. */
export interface Segment {
  readonly view: View;
  /** Undefined if it began with the existing objects. */
  readonly from: number | undefined;
  /** The index in `events` of the bookmark that ended the initial events. */
  initialEnd: number | undefined;
  /** Four times the revision, plus the number of the type. */
  readonly events: number[];
}

export interface WorldOptions {
  /** For reads and writes. */
  readonly clients: readonly Http2Client[];
  /** For watches. */
  readonly connections: readonly WatchConnection[];
  readonly clock: ManualClock;
  readonly seed: number;
  readonly operationsMax: number;
}

/** The longest jump of the clock, which must not let requests and connections time out. */
const jumpMs = 20_000;
const problemsMax = 20;

export class World {
  readonly options: WorldOptions;
  readonly clients: readonly Http2Client[];
  readonly connections: readonly WatchConnection[];
  readonly problems: string[] = [];
  readonly writes: Record<Collection, Write[]> = { configmaps: [], pods: [] };
  /** Single deletions that were answered, in the order of their answers. */
  readonly deletions: Deletion[] = [];
  /** How often a pod was bound, by `key node`. */
  readonly bindings = new Map<string, number>();
  /** Uids that a deletion of a collection answered with. */
  readonly swept: Record<Collection, Set<string>> = { configmaps: new Set(), pods: new Set() };
  readonly listed: Listed[] = [];
  readonly got: Got[] = [];
  readonly compacted: Compacted[] = [];
  readonly segments: Segment[] = [];
  /** The first observed state of each revision; later observations must be equal. */
  readonly states: Record<Collection, Map<number, State>> = { configmaps: new Map(), pods: new Map() };
  readonly removals: Record<Collection, Map<number, State>> = { configmaps: new Map(), pods: new Map() };
  readonly counts: Record<string, number> = {};
  /** The revision before the first operation. */
  start = 0;
  operations = 0;
  /** Newest revision in any answer. */
  answered = 0;
  /** Resolves with the last revision when all writers have ended. */
  readonly final = Promise.withResolvers<number>();
  #waiting: { readonly at: number; readonly wake: () => void }[] = [];
  readonly #time: (below: number) => number;

  constructor(options: WorldOptions) {
    this.options = options;
    this.clients = options.clients;
    this.connections = options.connections;
    this.#time = this.random(0);
  }

  /** A random generator for each actor, so that actors depend little on each other. */
  random(actor: number): (below: number) => number {
    return seededRandom(this.options.seed * 1000 + actor);
  }

  client(index: number): Http2Client {
    return this.clients[index % this.clients.length] as Http2Client;
  }

  get over(): boolean {
    return this.operations >= this.options.operationsMax;
  }

  get now(): number {
    return this.options.clock.now();
  }

  known(): Known {
    return { revision: this.answered, deletions: this.deletions.length };
  }

  problem(text: string): void {
    if (this.problems.length < problemsMax) this.problems.push(text);
  }

  /** Counts an operation, which advances the clock. */
  count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
    this.operations += 1;
    if (this.operations % 10 === 0) this.options.clock.advance(this.#time(jumpMs));
    this.#wake();
  }

  /** Records an answer 410. */
  recordCompacted(what: string, revision: number): void {
    this.compacted.push({ what, revision, at: this.now, answered: this.answered });
    this.note("versions gone");
  }

  note(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  /** Advances the clock without an operation, for actors that wait. */
  passTime(): void {
    this.options.clock.advance(jumpMs / 4);
  }

  /** Resolves after this number of operations of all actors, or when the run is over. */
  operationsLater(count: number): Promise<void> {
    return new Promise((wake) => {
      this.#waiting.push({ at: this.operations + count, wake });
      this.#wake();
    });
  }

  #wake(): void {
    const due = this.over ? this.#waiting : this.#waiting.filter(({ at }) => at <= this.operations);
    if (due.length === 0) return;
    this.#waiting = this.over ? [] : this.#waiting.filter(({ at }) => at > this.operations);
    for (const { wake } of due) wake();
  }

  /** @returns the revision and the key; undefined for an object that is not the model's */
  see(collection: Collection, who: string, object: Answered): { revision: number; key: string } | undefined {
    return this.#compare(this.states[collection], who, object);
  }

  /** Records the object of a DELETED event. */
  seeRemoval(collection: Collection, who: string, object: Answered): { revision: number; key: string } | undefined {
    return this.#compare(this.removals[collection], `${who}, DELETED`, object);
  }

  #compare(seen: Map<number, State>, who: string, object: Answered): { revision: number; key: string } | undefined {
    const state = stateOf(object);
    if (state === undefined) return undefined;
    const revision = Number(object.metadata.resourceVersion);
    const first = seen.get(revision);
    if (first === undefined) seen.set(revision, state);
    else if (first.text !== state.text)
      this.problem(`${who}: ${state.text} at ${revision}, which was ${first.text} elsewhere`);
    return { revision, key: state.key };
  }

  close(): void {
    for (const client of this.clients) client.close();
    for (const connection of this.connections) connection.break();
  }
}
