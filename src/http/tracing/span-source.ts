/** Spans of OpenTelemetry, with the context of the W3C in headers. */
import {
  type Context,
  createContextKey,
  SpanKind as Kind,
  type Span as RecordedSpan,
  ROOT_CONTEXT,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from "@opentelemetry/core";
import type { Span, SpanAttributes, SpanKind, SpanSource } from "../../apimachinery/spans.ts";

const propagator = new CompositePropagator({
  propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
});
const kinds: Readonly<Record<SpanKind, Kind>> = { internal: Kind.INTERNAL, client: Kind.CLIENT };
/** A request can have as many spans; those of further parts are not made. */
const spansMax = 1000;

/** How many spans a request has. */
interface Count {
  spans: number;
}

const countKey = createContextKey("spans of the request");

/** @param tracer decides which spans are recorded */
export function spanSource(tracer: Tracer): SpanSource {
  return {
    root: (name, startTime) => recorded(tracer, ROOT_CONTEXT, tracer.startSpan(name, { startTime, root: true })),
    request({ name, startedAt: startTime, attributes, header, isTrusted }, from) {
      const sent = propagator.extract(ROOT_CONTEXT, header, { get: (read, key) => read(key), keys: () => [] });
      const sentSpan = trace.getSpanContext(sent);
      const options = { kind: Kind.SERVER, startTime, attributes };
      if (!isTrusted) {
        const links = sentSpan === undefined ? [] : [{ context: sentSpan }];
        const span = tracer.startSpan(name, { ...options, root: true, links }, ROOT_CONTEXT);
        return recorded(tracer, ROOT_CONTEXT, span);
      }
      const context = sentSpan === undefined && from instanceof OtelSpan ? from.within(sent) : sent;
      return recorded(tracer, context, tracer.startSpan(name, options, context));
    },
  };
}

function recorded(tracer: Tracer, context: Context, span: RecordedSpan): Span {
  const counted = context.setValue(countKey, { spans: 1 } satisfies Count);
  return new OtelSpan(tracer, span, trace.setSpan(counted, span));
}

class OtelSpan implements Span {
  readonly #tracer: Tracer;
  readonly #span: RecordedSpan;
  /** With the span, and the baggage of the request. */
  readonly #context: Context;

  constructor(tracer: Tracer, span: RecordedSpan, context: Context) {
    this.#tracer = tracer;
    this.#span = span;
    this.#context = context;
  }

  /** @returns the context with this span */
  within(context: Context): Context {
    return trace.setSpan(context, this.#span);
  }

  addEvent(name: string, attributes?: SpanAttributes): void {
    this.#span.addEvent(name, attributes);
  }

  setAttributes(attributes: SpanAttributes): void {
    this.#span.setAttributes(attributes);
  }

  start(name: string, attributes?: SpanAttributes, kind: SpanKind = "internal"): Span {
    const count = this.#context.getValue(countKey) as Count;
    if (!this.#span.isRecording() || count.spans >= spansMax) return this.#unrecorded();
    count.spans++;
    const span = this.#tracer.startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, this.#context);
    return new OtelSpan(this.#tracer, span, trace.setSpan(this.#context, span));
  }

  /** A part without a span of its own, which carries the same context. */
  #unrecorded(): Span {
    const headers = (): Readonly<Record<string, string>> => this.headers();
    const part: Span = { addEvent() {}, setAttributes() {}, fail() {}, end() {}, start: () => part, headers };
    return part;
  }

  fail(message: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message });
  }

  end(): void {
    this.#span.end();
  }

  headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    propagator.inject(this.#context, headers, {
      set(carrier, key, value) {
        carrier[key] = value;
      },
    });
    return headers;
  }
}
