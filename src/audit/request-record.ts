/**
 * Collects the facts about one request and emits its events.
 * Source: k8s.io/apiserver@v0.36.0/pkg/audit/context.go and request.go.
 */

import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { AuditLevel, LatencyLayer, RequestAudit, ResponseStatus } from "../request/audit.ts";
import type { AuditCounts, AuditEvent, AuditSink, AuditStage } from "./contract.ts";
import type { RequestAuditConfig } from "./policy.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

/** The dependencies that all records of a server share. */
export interface Recording {
  readonly sink: AuditSink;
  readonly counts: AuditCounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The limits of the annotations of an event: their number, and their total characters. Upstream has
 * no limits.
 */
const annotationsMax = 128;
const annotationCharactersMax = 64 << 10;

/**
 * A larger response body is omitted, with the annotation of a truncated event. Upstream has no such
 * limit.
 */
const responseCharactersMax = 16 << 20;

/** Requests that take longer have latency annotations. */
const slowMs = 500;

/** The number of characters of a value that a log line shows. */
const shownMax = 256;

/** Marks an event with omitted objects. */
export const truncatedAnnotation = "audit.k8s.io/truncated";

type Draft = { -readonly [K in keyof AuditEvent]: AuditEvent[K] };

/** The facts that are available when a request arrives. */
type RequestFacts = Pick<
  AuditEvent,
  "auditId" | "requestUri" | "verb" | "user" | "sourceIps" | "userAgent" | "objectRef" | "requestReceivedAt"
>;

/** The record of one request. */
export class RequestRecord implements RequestAudit {
  readonly level: AuditLevel;
  readonly #config: RequestAuditConfig;
  readonly #recording: Recording;
  readonly #event: Draft;
  readonly #annotations = new Map<string, string>();
  #annotationCharacters = 0;
  readonly #latencies = new Map<LatencyLayer, number>();
  #panicked = false;
  #completed = false;
  #status: ResponseStatus | undefined;

  constructor(facts: RequestFacts, config: RequestAuditConfig, recording: Recording) {
    this.level = config.level;
    this.#config = config;
    this.#recording = recording;
    this.#event = {
      ...facts,
      level: config.level,
      stage: "RequestReceived",
      impersonatedUser: undefined,
      impersonationConstraint: "",
      responseStatus: undefined,
      requestObject: undefined,
      responseObject: undefined,
      stageAt: facts.requestReceivedAt,
      annotations: this.#annotations,
    };
  }

  annotate(key: string, value: string): void {
    const existing = this.#annotations.get(key);
    if (existing === value) return;
    const problem =
      existing === undefined
        ? this.#limitProblem(key.length + value.length)
        : `it has already been set to ${quoteGo(existing)}`;
    if (problem === undefined) {
      this.#annotations.set(key, value);
      this.#annotationCharacters += key.length + value.length;
      return;
    }
    const { auditId } = this.#event;
    const shown = JSON.stringify(value.slice(0, shownMax));
    this.#recording.logger.warn(
      `Failed to set annotations[${quoteGo(key)}] to ${shown} for audit:${quoteGo(auditId)}, ${problem}`,
    );
  }

  timing(layer: LatencyLayer): () => void {
    const { clock } = this.#recording;
    const startedAt = clock.now();
    return () => this.spent(layer, clock.now() - startedAt);
  }

  /** Adds to the time of a layer. */
  spent(layer: LatencyLayer, ms: number): void {
    if (ms > 0) this.#latencies.set(layer, (this.#latencies.get(layer) ?? 0) + ms);
  }

  impersonated(user: UserInfo, constraint: string): void {
    this.#event.impersonatedUser = user;
    this.#event.impersonationConstraint = constraint;
  }

  requestObject(sent: KubeObject | undefined, json: () => string | undefined): void {
    if (sent !== undefined) this.#completeReference(sent);
    if (this.#event.requestObject !== undefined || !(this.level === "Request" || this.level === "RequestResponse"))
      return;
    this.#event.requestObject = this.#applyPolicy(json());
  }

  responseObject(json: () => string | undefined): void {
    if (this.level !== "RequestResponse" || this.#completed) return;
    const text = json();
    if (text === undefined || text.length > responseCharactersMax) this.annotate(truncatedAnnotation, "true");
    else this.#event.responseObject = this.#applyPolicy(text);
  }

  responseStatus(status: ResponseStatus): void {
    if (!this.#panicked) this.#status = status;
  }

  panicked(message: string): void {
    this.#panicked = true;
    this.#status = { status: "Failure", message: `APIServer panic'd: ${message}`, reason: "InternalError" };
  }

  /**
   * Emits the stage RequestReceived.
   *
   * @returns false when the request must fail because the event is lost
   */
  received(): boolean | Promise<boolean> {
    return this.#emit("RequestReceived");
  }

  /**
   * The response starts: emits the stage ResponseStarted.
   *
   * @returns a promise when the response must wait
   */
  started(code: number): Promise<unknown> | undefined {
    this.#status = { ...this.#status, code };
    this.#event.responseStatus = this.#status;
    return pendingOnly(this.#emit("ResponseStarted"));
  }

  /**
   * The response is complete, or the client closed the connection: emits the last stage. Later
   * calls have no effect.
   *
   * @param code 0 when there was no response
   * @returns a promise when the end of the response must wait
   */
  completed(code: number): Promise<unknown> | undefined {
    if (this.#completed) return undefined;
    this.#completed = true;
    this.#annotateLatencies();
    this.#event.responseStatus =
      code === 0 ? { status: "Success", message: "Connection closed early", code: 200 } : { ...this.#status, code };
    return pendingOnly(this.#emit(this.#panicked ? "Panic" : "ResponseComplete"));
  }

  /** Adds the latencies of slow requests, except watches. */
  #annotateLatencies(): void {
    const { verb, requestReceivedAt } = this.#event;
    const total = this.#recording.clock.now() - requestReceivedAt;
    if (total <= slowMs || verb === "watch") return;
    for (const [layer, ms] of this.#latencies) this.annotate(`apiserver.latency.k8s.io/${layer}`, goDuration(ms));
    this.annotate("apiserver.latency.k8s.io/total", goDuration(total));
  }

  #limitProblem(characters: number): string | undefined {
    if (this.#annotations.size >= annotationsMax) return `there are ${annotationsMax} already`;
    return this.#annotationCharacters + characters > annotationCharactersMax
      ? `they would be longer than ${annotationCharactersMax}`
      : undefined;
  }

  #emit(stage: AuditStage): boolean | Promise<boolean> {
    if (this.#config.omitStages.has(stage)) return true;
    const { sink, counts, clock } = this.#recording;
    this.#event.stage = stage;
    this.#event.stageAt = stage === "RequestReceived" ? this.#event.requestReceivedAt : clock.now();
    counts.events++;
    return sink.process(this.#event);
  }

  /** Completes the reference with the metadata of the object. */
  #completeReference({ metadata }: KubeObject): void {
    const reference = this.#event.objectRef;
    if (reference === undefined) return;
    this.#event.objectRef = {
      ...reference,
      namespace: reference.namespace || textOf(metadata.namespace),
      name: reference.name || textOf(metadata.name),
      uid: reference.uid || textOf(metadata.uid),
      resourceVersion: reference.resourceVersion || textOf(metadata.resourceVersion),
    };
  }

  #applyPolicy(json: string | undefined): string | undefined {
    return json !== undefined && this.#config.omitManagedFields ? withoutManagedFields(json) : json;
  }
}

function goDuration(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n);
}

function pendingOnly(recorded: boolean | Promise<boolean>): Promise<unknown> | undefined {
  return typeof recorded === "boolean" ? undefined : recorded;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
