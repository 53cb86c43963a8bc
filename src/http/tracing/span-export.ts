/** Sends spans to a collector by OTLP over gRPC. Source: opentelemetry-proto 1.9.0, `TraceService`. */
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { type ExportResult, ExportResultCode } from "@opentelemetry/core";
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../../apimachinery/logger.ts";
import { callUnary } from "../../lib/grpc/unary-call.ts";

export interface SpanExportParts {
  /** A target of gRPC. */
  readonly endpoint: string;
  readonly logger: Logger;
  readonly exported: (spans: number) => void;
  readonly failed: (spans: number) => void;
}

const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
/** How long an export waits for the collector. One runs at a time, so that the others wait in the queue. */
const timeoutMs = 10_000;
/** The same while the server stops. */
const stopTimeoutMs = 1_000;

/** An exporter for OpenTelemetry's SDK. A collector that is away costs the spans and a line in the log. */
export class SpanExport implements SpanExporter {
  readonly #parts: SpanExportParts;
  readonly #client: Client;
  #timeoutMs = timeoutMs;
  /** The last export failed, which is in the log. */
  #isAway = false;

  constructor(parts: SpanExportParts) {
    this.#parts = parts;
    this.#client = new Client(targetOf(parts.endpoint), credentials.createInsecure(), {
      "grpc.enable_retries": 0,
      "grpc.enable_channelz": 0,
      "grpc.use_local_subchannel_pool": 1,
    });
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#send(spans).then(
      () => {
        this.#parts.exported(spans.length);
        this.#isAway = false;
        done({ code: ExportResultCode.SUCCESS });
      },
      (error: ServiceError) => {
        this.#parts.failed(spans.length);
        this.#report(error);
        // The SDK would print a failure in a form of its own.
        done({ code: ExportResultCode.SUCCESS });
      },
    );
  }

  async #send(spans: ReadableSpan[]): Promise<void> {
    const bytes = Buffer.from(ProtobufTraceSerializer.serializeRequest(spans) ?? []);
    const deadline = Date.now() + this.#timeoutMs;
    await callUnary(this.#client.getChannel(), path, bytes, deadline, { waitForReady: true });
  }

  #report(error: ServiceError): void {
    if (this.#isAway) return;
    this.#isAway = true;
    const { endpoint, logger } = this.#parts;
    logger.warn("Lost spans that the collector did not accept", { endpoint, error: error.details ?? error.message });
  }

  /** Further exports do not wait for a collector that is away. */
  stopWaiting(): void {
    this.#timeoutMs = stopTimeoutMs;
  }

  async shutdown(): Promise<void> {
    this.#client.close();
  }
}

/** gRPC for JavaScript knows abstract sockets by a NUL in the path. */
function targetOf(endpoint: string): string {
  return endpoint.startsWith("unix-abstract:")
    ? `unix:\0${endpoint.slice("unix-abstract:".length).replace(/^\/\//, "")}`
    : endpoint;
}
