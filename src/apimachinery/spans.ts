/**
 * Spans of traced requests, for parts below the request path, such as storage and webhooks. Nothing decides by them, so
 * they are the one state of a request that is not passed along. Requests that are not traced have no scope.
 * Source of names and attributes: k8s.io/component-base@v0.36.0/tracing/tracing.go and its callers.
 */
import { AsyncLocalStorage } from "node:async_hooks";

/** Names and values of what a span or an event is about. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A timed part of a request. */
export interface Span {
  addEvent(name: string, attributes?: SpanAttributes): void;
  setAttributes(attributes: SpanAttributes): void;
  /** Starts a part of this part. @param kind `client`: a call of another server */
  start(name: string, attributes?: SpanAttributes, kind?: SpanKind): Span;
  /** Marks it as failed. */
  fail(message: string): void;
  /** @param logMs a part that took at least so long is in the log, with its own parts; see `-v` */
  end(logMs?: number): void;
  /** The headers by which another server continues the trace. */
  headers(): Readonly<Record<string, string>>;
}

export type SpanKind = "internal" | "client";

/** Makes the spans that a collector receives. */
export interface SpanSource {
  /**
   * Starts the span of a request.
   * @param from a span in which the request was received, if it does not continue a trace
   */
  request(request: TracedRequest, from: Span): Span;
  /** Starts a span that is a part of no other. */
  root(name: string, startedAt: number): Span;
}

/** A request whose span starts. */
export interface TracedRequest {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  readonly attributes: SpanAttributes;
  /** The first line of a header. @param name lower-case */
  header(name: string): string | undefined;
  /** Whether the trace of the client is continued, and it decides whether spans are recorded; otherwise it is linked. */
  readonly isTrusted: boolean;
}

/** Where the code of a traced request is. */
export interface SpanScope {
  readonly current: Span | undefined;
}

/** Calls of other servers and parts of requests are logged if they take longer. */
export const slowMs = 500;

const scopes = new AsyncLocalStorage<SpanScope>();

/** The scope that the calling code runs in; undefined unless the request is traced. */
export function activeScope(): SpanScope | undefined {
  return scopes.getStore();
}

/** The span that the calling code runs in; undefined unless the request is traced. */
export function activeSpan(): Span | undefined {
  return scopes.getStore()?.current;
}

/** Runs a function, and all that it waits for, in a scope. */
export function runInScope<Result>(scope: SpanScope, run: () => Result): Result {
  return scopes.run(scope, run);
}

/** What {@link inSpan} starts. */
interface StartedSpan {
  readonly name: string;
  readonly attributes?: () => SpanAttributes;
  readonly kind?: SpanKind;
  /** As of {@link Span.end}. */
  readonly logMs?: number;
}

/** Runs a call as a part of the active span, with a span of its own; without one, it only runs the call. */
export function inSpan<Result>(
  started: StartedSpan,
  run: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  const parent = activeSpan();
  return parent === undefined ? run(undefined) : runWithin(parent, started, run);
}

async function runWithin<Result>(
  parent: Span,
  { name, attributes, kind, logMs = slowMs }: StartedSpan,
  run: (span: Span) => Promise<Result>,
): Promise<Result> {
  const span = parent.start(name, attributes?.(), kind);
  try {
    return await runInScope({ current: span }, () => run(span));
  } catch (error) {
    span.fail(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    span.end(logMs);
  }
}
