/**
 * The spans of requests to other servers, with the headers that continue the trace there.
 * Source: go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp@v0.65.0/transport.go and
 * internal/semconv/client.go there.
 */
import { inSpan, type Span, type SpanAttributes } from "../apimachinery/spans.ts";

/** The parts of a response that a span has. */
interface Answer {
  readonly status: number;
}

const noHeaders: Readonly<Record<string, string>> = {};

/**
 * Sends a request as a part of the active span, if there is one.
 *
 * @param url without credentials
 * @param send receives the headers of the trace; there are none without a span
 */
export function inCallSpan<A extends Answer>(
  method: string,
  url: string,
  send: (headers: Readonly<Record<string, string>>) => Promise<A>,
): Promise<A> {
  const call = { name: `HTTP ${method}`, attributes: () => attributesOf(method, url), kind: "client" } as const;
  return inSpan(call, async (span) => {
    const answer = await send(span?.headers() ?? noHeaders);
    if (span !== undefined) addStatus(span, answer.status);
    return answer;
  });
}

function attributesOf(method: string, url: string): SpanAttributes {
  const { hostname = "", port = "" } = URL.parse(url) ?? {}; // A client can send a path that is no URL.
  return {
    "http.request.method": method,
    "url.full": url,
    "server.address": hostname.replace(/^\[(.*)\]$/, "$1"),
    ...(port !== "" && { "server.port": Number(port) }),
    "network.protocol.version": "1.1",
  };
}

function addStatus(span: Span, status: number): void {
  span.setAttributes({
    "http.response.status_code": status,
    ...(status >= 400 && { "error.type": String(status) }),
  });
  if (status >= 400) span.fail("");
}
