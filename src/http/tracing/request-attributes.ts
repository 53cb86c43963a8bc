/**
 * What spans of requests are about.
 * Sources: `RequestTraceAttrs` and `ResponseTraceAttrs` in
 * go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp@v0.65.0/internal/semconv/server.go, and `traceFields` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/trace_util.go.
 */

import { headerText } from "../../apimachinery/header-text.ts";
import type { SpanAttributes } from "../../apimachinery/spans.ts";
import type { RequestState } from "../../request/context.ts";
import { normalizedVerb, requestScope } from "../../request/normalized-verb.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import { sourceIps } from "../../request/source-ips.ts";

/** The name of the span of a request: its method, and the path with `{:name}` for names. */
export function spanName({ info, exchange }: Pick<RequestState, "info" | "exchange">): string {
  return info.isResourceRequest ? `${exchange.method} ${pathPattern(info)}` : exchange.method;
}

function pathPattern({ apiPrefix, group, version, namespace, resource, name, subresource }: RequestInfo): string {
  const parts = [apiPrefix, group, version, namespace && "namespaces/{:namespace}", resource, name && "{:name}"];
  return `/${[...parts, subresource].filter((part) => part !== "").join("/")}`;
}

const knownMethods = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/** At the start of a request. */
export function requestAttributes({ exchange, info, auditId }: RequestState): SpanAttributes {
  const { remote, protocol, method } = exchange;
  const { host, port } = hostAndPort(exchange.header(":authority") ?? exchange.header("host") ?? "");
  const userAgent = headerText(exchange.header("user-agent") ?? "");
  const [forwarded = ""] = (exchange.header("x-forwarded-for") ?? "").split(",", 1);
  return {
    "server.address": host,
    "http.request.method": knownMethods.has(method) ? method : "GET",
    "url.scheme": "https",
    ...(port > 0 && port !== 443 && { "server.port": port }),
    ...(!knownMethods.has(method) && { "http.request.method_original": method }),
    "network.peer.address": remote.address,
    ...(remote.port > 0 && { "network.peer.port": remote.port }),
    ...(userAgent !== "" && { "user_agent.original": userAgent }),
    "client.address": headerText(forwarded) || remote.address,
    "url.path": info.path,
    "network.protocol.version": protocol.slice("HTTP/".length),
    "http.target": exchange.target,
    "audit-id": auditId,
  };
}

/** At the end of a request. */
export function responseAttributes({ exchange }: Pick<RequestState, "exchange">): SpanAttributes {
  const { receivedBytes, sentBytes, status } = exchange;
  return {
    ...(receivedBytes > 0 && { "http.request.body.size": receivedBytes }),
    ...(sentBytes > 0 && { "http.response.body.size": sentBytes }),
    ...(status > 0 && { "http.response.status_code": status }),
  };
}

function hostAndPort(authority: string): { readonly host: string; readonly port: number } {
  const [, host = authority, port = ""] = /^(.*):(\d{1,5})$/.exec(authority) ?? [];
  return { host: headerText(host).replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

const userAgentMax = 1024;

/** Of the span of a verb. */
export function verbAttributes(context: RequestState): SpanAttributes {
  const { exchange, info, auditId } = context;
  const userAgent = headerText(exchange.header("user-agent") ?? "");
  return {
    accept: headerText(exchange.header("accept") ?? ""),
    "audit-id": auditId,
    client: sourceIps(exchange)[0] ?? "unknown",
    "api-group": info.group,
    "api-version": info.version,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    protocol: exchange.protocol,
    resource: info.resource,
    scope: requestScope(context),
    url: info.path,
    "user-agent": userAgent.length > userAgentMax ? `${userAgent.slice(0, userAgentMax)}...TRUNCATED` : userAgent,
    verb: normalizedVerb(context),
  };
}
