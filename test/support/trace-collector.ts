/** A collector of OpenTelemetry that keeps the spans it receives. Source: opentelemetry-proto 1.9.0, trace.proto. */
import { Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import { decodeMessage, type Message } from "../../src/lib/grpc/codec.ts";

/** A received span. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly events: readonly string[];
  /** The ids of linked traces. */
  readonly links: readonly string[];
}

export interface TraceCollector {
  /** `host:port` */
  readonly endpoint: string;
  readonly spans: CollectedSpan[];
  /** Attributes of the server that sent them. */
  readonly resource: Record<string, unknown>;
  close(): void;
}

const value: Message = {
  name: "AnyValue",
  fields: {
    text: { id: 1, type: "string", oneof: true },
    flag: { id: 2, type: "bool", oneof: true },
    number: { id: 3, type: "int64", oneof: true },
  },
};
const pair: Message = { name: "KeyValue", fields: { key: { id: 1, type: "string" }, value: { id: 2, type: value } } };
const attributes = { type: pair, repeated: true } as const;
const span: Message = {
  name: "Span",
  fields: {
    traceId: { id: 1, type: "bytes" },
    spanId: { id: 2, type: "bytes" },
    parentId: { id: 4, type: "bytes" },
    name: { id: 5, type: "string" },
    attributes: { id: 9, ...attributes },
    events: {
      id: 11,
      repeated: true,
      type: { name: "Event", fields: { name: { id: 2, type: "string" } } },
    },
    links: { id: 13, repeated: true, type: { name: "Link", fields: { traceId: { id: 1, type: "bytes" } } } },
  },
};
const scope: Message = { name: "ScopeSpans", fields: { spans: { id: 2, type: span, repeated: true } } };
const resource: Message = { name: "Resource", fields: { attributes: { id: 1, ...attributes } } };
const resourceSpans: Message = {
  name: "ResourceSpans",
  fields: { resource: { id: 1, type: resource }, scopes: { id: 2, type: scope, repeated: true } },
};
const request: Message = {
  name: "ExportTraceServiceRequest",
  fields: { all: { id: 1, type: resourceSpans, repeated: true } },
};

interface Pair {
  readonly key: string;
  readonly value?: { readonly text?: string; readonly flag?: boolean; readonly number?: number };
}

interface SentSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly parentId: Buffer;
  readonly name: string;
  readonly attributes?: readonly Pair[];
  readonly events?: readonly { readonly name: string }[];
  readonly links?: readonly { readonly traceId: Buffer }[];
}

interface SentRequest {
  readonly all?: readonly {
    readonly resource?: { readonly attributes?: readonly Pair[] };
    readonly scopes?: readonly { readonly spans?: readonly SentSpan[] }[];
  }[];
}

const plain = (pairs: readonly Pair[] = []): Record<string, string | number | boolean | undefined> =>
  Object.fromEntries(pairs.map(({ key, value: of }) => [key, of?.text ?? of?.flag ?? of?.number]));

const service: ServiceDefinition = {
  export: {
    path: "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    requestStream: false,
    responseStream: false,
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => decodeMessage<SentRequest>(request, bytes),
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  },
};

/** Starts a collector on a free port. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const sender: Record<string, unknown> = {};
  const server = new Server();
  server.addService(service, {
    export(call: { request: SentRequest }, done: (error: null, response: Buffer) => void) {
      for (const { resource: from, scopes = [] } of call.request.all ?? []) {
        Object.assign(sender, plain(from?.attributes));
        for (const { spans: sent = [] } of scopes) spans.push(...sent.map(collected));
      }
      done(null, Buffer.alloc(0));
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { endpoint: `127.0.0.1:${port}`, spans, resource: sender, close: () => server.forceShutdown() };
}

function collected({
  traceId,
  spanId,
  parentId,
  name,
  attributes: pairs,
  events = [],
  links = [],
}: SentSpan): CollectedSpan {
  return {
    traceId: traceId.toString("hex"),
    spanId: spanId.toString("hex"),
    parentId: parentId.toString("hex"),
    name,
    attributes: plain(pairs),
    events: events.map((event) => event.name),
    links: links.map((link) => link.traceId.toString("hex")),
  };
}
