/** The record of one request while it is served, and after it. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Status } from "../../apimachinery/errors.ts";
import type { RequestContext } from "../../http/contract.ts";
import type { ObjectChange } from "../../registry/contract.ts";
import type { TimelineRequest } from "./contract.ts";
import { describeChange } from "./object-change.ts";

/** Changes of one request that are kept; others are counted. */
const changesMax = 100;
/** Characters of texts that clients choose. */
const textMax = 256;
/** Characters of messages. */
export const messageMax = 300;

/** Bytes of an entry without its texts and objects, approximately. */
const recordBytes = 600;

/** What a request did. */
export class RequestRecord {
  readonly sequence: number;
  readonly #clock: Clock;
  readonly #info: Omit<
    TimelineRequest,
    "user" | "code" | "reason" | "message" | "durationMs" | "events" | "fault" | "changes" | "moreChanges"
  >;
  /** Until the end of the request. */
  #context: RequestContext | undefined;
  #user = "";
  #code = 0;
  #reason = "";
  #message = "";
  #durationMs: number | undefined;
  #events: number | undefined;
  #changes: ObjectChange[] = [];
  #moreChanges = 0;
  /** For watches: the sequence of the next entry when the watch ended. */
  endSequence: number | undefined;
  fault: string | undefined;
  /** Approximate bytes that the record keeps. */
  bytes = recordBytes;

  constructor(sequence: number, context: RequestContext, clock: Clock) {
    const { info, exchange, receivedAt } = context;
    this.sequence = sequence;
    this.#clock = clock;
    this.#context = context;
    const named = info.isResourceRequest ? info : noResource;
    this.#info = {
      kind: "request",
      sequence,
      at: receivedAt,
      verb: info.verb,
      path: bounded(info.path),
      group: bounded(named.group),
      version: bounded(named.version),
      resource: bounded(named.resource),
      subresource: bounded(named.subresource),
      namespace: bounded(named.namespace),
      name: bounded(named.name),
      fieldSelector: bounded(named.fieldSelector),
      labelSelector: bounded(named.labelSelector),
      userAgent: bounded(exchange.header("user-agent") ?? ""),
      client: exchange.remote.address,
      dryRun: info.query.getAll("dryRun").includes("All"),
    };
  }

  /** Whether it is a watch that has not ended. */
  get isOpenWatch(): boolean {
    return this.#events !== undefined && this.#context !== undefined;
  }

  watchStarted(): void {
    this.#events = 0;
  }

  sent(events: number): void {
    this.#events = (this.#events ?? 0) + events;
  }

  failed({ reason = "", message }: Status): void {
    this.#reason = reason;
    if (this.#info.resource !== "secrets" || isDenial(message)) this.#message = bounded(message, messageMax);
  }

  /** @returns the bytes that the record keeps more */
  changed(change: ObjectChange): number {
    if (this.#changes.length === changesMax) {
      this.#moreChanges++;
      return 0;
    }
    this.#changes.push(change);
    const bytes = objectBytes(change);
    this.bytes += bytes;
    return bytes;
  }

  /** @param nextSequence the sequence of the next entry */
  ended(nextSequence: number): void {
    const context = this.#context;
    if (context === undefined) return;
    this.#code = context.exchange.status;
    this.#user = bounded(context.user.name);
    this.#durationMs = this.#clock.now() - this.#info.at;
    this.#context = undefined;
    if (this.#events !== undefined) this.endSequence = nextSequence;
  }

  describe(): TimelineRequest {
    const context = this.#context;
    // The exchange of an answer closes soon after the client has received it.
    const isAnswered = context?.exchange.answered === true && this.#events === undefined;
    return {
      ...this.#info,
      user: context === undefined ? this.#user : bounded(context.user.name),
      code: context === undefined ? this.#code : context.exchange.status,
      reason: this.#reason,
      message: this.#message,
      durationMs: isAnswered ? this.#clock.now() - this.#info.at : this.#durationMs,
      events: this.#events,
      fault: this.fault,
      changes: this.#changes.map(describeChange),
      moreChanges: this.#moreChanges,
    };
  }
}

/** Whether authorization has rejected the request, before anything has read values of the object. */
function isDenial(message: string): boolean {
  return /^secrets(?: "[^"]*")? is forbidden: User "/.test(message);
}

const noResource = {
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

/** The bytes of both states; 0 when an absent object was removed. */
export function objectBytes({ before, after }: ObjectChange): number {
  return (before?.json.length ?? 0) + (after?.length ?? 0);
}

/** Shortens a text. */
export function bounded(text: string, max = textMax): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}
