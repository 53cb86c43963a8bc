/** What is gathered about one request, and told at its stages. Source: upstream's audit/context.go and request.go. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import type {
  AuditCounts,
  AuditEvent,
  AuditLevel,
  AuditSink,
  AuditStage,
  LatencyLayer,
  RequestAudit,
  ResponseStatus,
} from "./contract.ts";
import type { RequestAuditConfig } from "./policy.ts";
import { withoutManagedFields } from "./without-managed-fields.ts";

/** What records of one server share. */
export interface Recording {
  readonly sink: AuditSink;
  readonly counts: AuditCounts;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Annotations that an event may have, and characters they may have together. Upstream has no limit. */
const annotationsMax = 128;
const annotationCharactersMax = 64 << 10;

/** Characters of an answer beyond which only its metadata is recorded, as if truncated. Upstream has no limit but `--audit-log-truncate-*`. */
const responseCharactersMax = 16 << 20;

/** From so many milliseconds on, what a request spent its time with is told. */
const slowMs = 500;

/** Characters of a value that a warning shows. */
const shownMax = 256;

export const truncatedAnnotation = "audit.k8s.io/truncated";

type Draft = { -readonly [K in keyof AuditEvent]: AuditEvent[K] };

/** The facts a request begins with. */
export type RequestFacts = Pick<
  AuditEvent,
  "auditId" | "requestUri" | "verb" | "user" | "sourceIps" | "userAgent" | "objectRef" | "requestReceivedAt"
>;

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
    const present = this.#annotations.get(key);
    if (present === value) return;
    const problem =
      present === undefined
        ? this.#tooMuch(key.length + value.length)
        : `it has already been set to ${JSON.stringify(present)}`;
    if (problem === undefined) {
      this.#annotations.set(key, value);
      this.#annotationCharacters += key.length + value.length;
      return;
    }
    const { auditId } = this.#event;
    const shown = JSON.stringify(value.slice(0, shownMax));
    this.#recording.logger.warn(
      `Failed to set annotations[${JSON.stringify(key)}] to ${shown} for audit:${JSON.stringify(auditId)}, ${problem}`,
    );
  }

  timing(layer: LatencyLayer): () => void {
    const { clock } = this.#recording;
    const startedAt = clock.now();
    return () => this.spent(layer, clock.now() - startedAt);
  }

  /** @param ms in one go; what is told again is added */
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
    this.#event.requestObject = this.#shown(json());
  }

  responseObject(json: () => string | undefined): void {
    if (this.level !== "RequestResponse" || this.#completed) return;
    const text = json();
    if (text === undefined || text.length > responseCharactersMax) this.annotate(truncatedAnnotation, "true");
    else this.#event.responseObject = this.#shown(text);
  }

  responseStatus(status: ResponseStatus): void {
    if (!this.#panicked) this.#status = status;
  }

  panicked(message: string): void {
    this.#panicked = true;
    this.#status = { status: "Failure", message: `APIServer panic'd: ${message}`, reason: "InternalError" };
  }

  /** @returns false when the request must not go on */
  received(): boolean | Promise<boolean> {
    return this.#tell("RequestReceived");
  }

  /** The answer begins. Its status stands beside what is known of it. @returns what the answer has to wait for */
  started(code: number): Promise<unknown> | undefined {
    this.#status = { ...this.#status, code };
    this.#event.responseStatus = this.#status;
    return waiting(this.#tell("ResponseStarted"));
  }

  /**
   * The answer is complete, or the client has gone; only the first time counts.
   * @param code 0 where there was no answer
   * @returns what the end of the answer has to wait for
   */
  completed(code: number): Promise<unknown> | undefined {
    if (this.#completed) return undefined;
    this.#completed = true;
    this.#annotateLatencies();
    this.#event.responseStatus =
      code === 0 ? { status: "Success", message: "Connection closed early", code: 200 } : { ...this.#status, code };
    return waiting(this.#tell(this.#panicked ? "Panic" : "ResponseComplete"));
  }

  /** Of requests that took long, watches aside. */
  #annotateLatencies(): void {
    const { verb, requestReceivedAt } = this.#event;
    const total = this.#recording.clock.now() - requestReceivedAt;
    if (total <= slowMs || verb === "watch") return;
    for (const [layer, ms] of this.#latencies) this.annotate(`apiserver.latency.k8s.io/${layer}`, goDuration(ms));
    this.annotate("apiserver.latency.k8s.io/total", goDuration(total));
  }

  #tooMuch(characters: number): string | undefined {
    if (this.#annotations.size >= annotationsMax) return `there are ${annotationsMax} already`;
    return this.#annotationCharacters + characters > annotationCharactersMax
      ? `they would be longer than ${annotationCharactersMax}`
      : undefined;
  }

  #tell(stage: AuditStage): boolean | Promise<boolean> {
    if (this.#config.omitStages.has(stage)) return true;
    const { sink, counts, clock } = this.#recording;
    this.#event.stage = stage;
    this.#event.stageAt = stage === "RequestReceived" ? this.#event.requestReceivedAt : clock.now();
    counts.events++;
    return sink.process(this.#event);
  }

  /** What the path does not say of the object, it says itself. */
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

  #shown(json: string | undefined): string | undefined {
    return json !== undefined && this.#config.omitManagedFields ? withoutManagedFields(json) : json;
  }
}

function goDuration(ms: number): string {
  return formatDuration(BigInt(Math.round(ms)) * 1_000_000n);
}

function waiting(told: boolean | Promise<boolean>): Promise<unknown> | undefined {
  return typeof told === "boolean" ? undefined : told;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
