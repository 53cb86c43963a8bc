/**
 * The metrics of connections to kubelets. Sources: k8s.io/apiserver@v0.36.0/pkg/util/proxy/metrics/metrics.go, and
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/metrics.go.
 */
import type { KubeletObserver } from "../forwarding/kubelet/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, single } from "./vectors.ts";

export const kubeletRows = {
  logs: {
    name: "kube_apiserver_pod_logs_insecure_backend_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests for logs by usage of verification.",
    labels: ["usage"],
  },
  failures: {
    name: "kube_apiserver_pod_logs_backend_tls_failure_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests for logs whose kubelet failed verification.",
  },
  streams: {
    name: "apiserver_websocket_streaming_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests for streams to containers.",
    labels: ["subresource", "proxy_type"],
  },
  translated: {
    name: "apiserver_stream_translator_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "WebSockets translated to SPDY.",
    labels: ["code"],
  },
  tunneled: {
    name: "apiserver_stream_tunnel_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "WebSockets that carry SPDY.",
    labels: ["code"],
  },
} as const satisfies MetricRows;

/** Counts requests for logs and streams. */
export interface KubeletMetrics extends KubeletObserver {
  collect(): Metric[];
}

/** @returns empty metrics */
export function kubeletMetrics(): KubeletMetrics {
  const logs = new Counters(kubeletRows.logs);
  const streams = new Counters(kubeletRows.streams);
  const translated = new Counters(kubeletRows.translated);
  const tunneled = new Counters(kubeletRows.tunneled);
  let failures = 0;
  return {
    logRequested: (verification) => logs.count([verification]),
    logVerificationFailed() {
      failures++;
    },
    streamsRequested: (kind, proxyType) => streams.count([kind, proxyType]),
    translated: (status) => translated.count([String(status)]),
    tunneled: (status) => tunneled.count([String(status)]),
    collect: () => [
      logs.metric(),
      single(kubeletRows.failures, failures),
      ...[streams, translated, tunneled].map((one) => one.metric()),
    ],
  };
}
