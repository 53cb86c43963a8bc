/**
 * Records the spans of requests with OpenTelemetry, and sends them to a collector. Loaded only with a
 * TracingConfiguration. Source: `NewProvider` in k8s.io/component-base@v0.36.0/tracing/utils.go.
 */
import { createNoopMeter, type MeterProvider } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { SpanSource } from "../../apimachinery/spans.ts";
import type { TracingConfiguration } from "./configuration.ts";
import { SpanExport, type SpanExportParts } from "./span-export.ts";
import { spanSource } from "./span-source.ts";

/** The outcome of spans, for metrics. */
export type SpanOutcome = "exported" | "failed" | "dropped";

export interface TracingParts extends Pick<SpanExportParts, "logger"> {
  readonly configuration: TracingConfiguration;
  /** The identity of this server. */
  readonly identity: string;
  readonly version: string;
  readonly ended: (outcome: SpanOutcome, spans: number) => void;
}

export interface Tracing {
  readonly spans: SpanSource;
  /** Sends the spans that wait, for a bounded time. */
  close(): Promise<void>;
}

/** Upstream's endpoint if the configuration has none: the one of OTLP over gRPC. */
const defaultEndpoint = "localhost:4317";
/** Ended spans that wait for the collector; more are dropped. */
const waitingMax = 2048;
/** Values of clients, such as paths and user agents, are cut off. Upstream has no limit. */
const valueLengthMax = 4096;

/** Opens the recording of spans. It connects with the first spans. */
export function openTracing({ configuration, identity, version, logger, ended }: TracingParts): Tracing {
  const { endpoint = defaultEndpoint, samplingRatePerMillion: rate = 0 } = configuration;
  const exporter = new SpanExport({
    endpoint,
    logger,
    exported: (spans) => ended("exported", spans),
    failed: (spans) => ended("failed", spans),
  });
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: waitingMax,
    selfObsMeterProvider: dropsOnly((spans) => ended("dropped", spans)),
  });
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({
      root: rate > 0 ? new TraceIdRatioBasedSampler(rate / 1_000_000) : new AlwaysOffSampler(),
    }),
    resource: resourceFromAttributes({ "service.name": "apiserver", "service.instance.id": identity }),
    spanLimits: { attributeValueLengthLimit: valueLengthMax },
    spanProcessors: [processor],
  });
  return {
    spans: spanSource(provider.getTracer("coxswain", version)),
    async close() {
      exporter.stopWaiting();
      await provider.shutdown();
    },
  };
}

/** A meter that only counts the spans that found the queue full. */
function dropsOnly(dropped: (spans: number) => void): MeterProvider {
  const meter = createNoopMeter();
  meter.createCounter = () => ({
    add(spans, attributes) {
      if (attributes?.["error.type"] === "queue_full") dropped(spans);
    },
  });
  return { getMeter: () => meter };
}
