/**
 * Traces requests: spans for a collector, and slow requests in the log. Requests of a server that does neither pass none of
 * this. Sources: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/traces.go and filterlatency/filterlatency.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import {
  activeScope,
  runInScope,
  type Span,
  type SpanAttributes,
  type SpanSource,
  slowMs,
} from "../../apimachinery/spans.ts";
import type { Filter } from "../../request/context.ts";
import type { Exchange } from "../../request/exchange.ts";
import type { RequestContext } from "../contract.ts";
import { bothSpans } from "./both-spans.ts";
import { type LogSpanParts, logSpan } from "./log-span.ts";
import { requestAttributes, responseAttributes, spanName } from "./request-attributes.ts";
import { RequestSpans } from "./request-spans.ts";
import { VerbSpans } from "./verb-spans.ts";

export interface RequestTracingParts {
  /** Undefined: no collector. */
  readonly source: SpanSource | undefined;
  readonly clock: Clock;
  /** Where slow requests are written. */
  readonly log: LogSpanParts;
  /** How names of spans call the store, such as `etcd3`. */
  readonly engine: string;
}

/** What the request path calls. */
export interface RequestTracing {
  /** Gives each request a scope. */
  serve(next: (exchange: Exchange) => void): (exchange: Exchange) => void;
  /** The filter of authentication, after which the span of the request starts, because it depends on the user. */
  authentication(filter: Filter<RequestContext>): Filter<RequestContext>;
  /** A later filter. Its span contains all that follows it, as in upstream. */
  filter(name: string, filter: Filter<RequestContext>): Filter<RequestContext>;
}

/** Slow requests are logged at this level. */
const logLevel = 2;

export function requestTracing(parts: RequestTracingParts): RequestTracing {
  const { source, clock, log } = parts;
  const begin = (context: RequestContext, spans: RequestSpans, from: Span | undefined): void => {
    if (context.exchange.answered) return;
    if (source !== undefined && from !== undefined) startRequest(source, context, spans, from);
    follow(context, spans, parts);
  };
  return {
    serve: (next) => (exchange) => {
      if (source === undefined && !log.isVerbose(logLevel)) return next(exchange);
      runInScope(new RequestSpans(), () => next(exchange));
    },
    authentication: (filter) => (context) => {
      const spans = activeScope();
      if (!(spans instanceof RequestSpans)) return filter(context);
      const from = source && spans.push(source.root("authentication", clock.now()));
      context.exchange.onClose(() => spans.endAll());
      const pending = filter(context);
      if (pending === undefined) return begin(context, spans, from);
      return pending.then(() => begin(context, spans, from));
    },
    filter: (name, filter) => (context) => {
      const spans = activeScope();
      if (spans instanceof RequestSpans && source !== undefined) spans.start(name);
      return filter(context);
    },
  };
}

/** These groups continue their own traces, and decide whether spans are recorded. */
const trustedGroups = new Set(["system:masters", "system:monitoring"]);

function startRequest(source: SpanSource, context: RequestContext, spans: RequestSpans, from: Span): void {
  const span = source.request(
    {
      name: spanName(context),
      startedAt: context.receivedAt,
      attributes: requestAttributes(context),
      header: (name) => context.exchange.header(name),
      isTrusted: context.user.groups.some((group) => trustedGroups.has(group)),
    },
    from,
  );
  spans.push(span);
  spans.atEnd.push(() => {
    span.setAttributes(responseAttributes(context));
    if (context.exchange.status >= 500) span.fail("");
  });
}

/** Makes the spans of the verb from the stages of the request. */
function follow(context: RequestContext, spans: RequestSpans, { log, engine }: RequestTracingParts): void {
  const { exchange } = context;
  const before = exchange.entered;
  let verb: VerbSpans | undefined;
  const start = (name: string, attributes: SpanAttributes): Span | undefined => {
    const recorded = spans.current?.start(name, attributes);
    const logged = log.isVerbose(logLevel) ? logSpan(log, name, attributes) : undefined;
    const span = recorded && logged ? bothSpans(recorded, logged) : (recorded ?? logged);
    return span && spans.push(span, slowMs);
  };
  exchange.entered = (stage, key) => {
    before?.(stage, key);
    if (stage === "route" && context.info.isResourceRequest) verb = new VerbSpans(context, spans, { start, engine });
    else verb?.entered(stage, key);
  };
  spans.atEnd.push(() => verb?.close());
}
