/**
 * The metrics of connections to kubelets. Sources: k8s.io/apiserver@v0.36.0/pkg/util/proxy/metrics/metrics.go, and
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/metrics.go.
 */
import type { KubeletObserver } from "../forwarding/kubelet/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

/** Counts requests for logs and streams. */
export interface KubeletMetrics extends KubeletObserver {
  collect(): Metric[];
}

/** @returns empty metrics */
export function kubeletMetrics(): KubeletMetrics {
  const logs = new Counters();
  const streams = new Counters();
  const translated = new Counters();
  const tunneled = new Counters();
  let failures = 0;
  return {
    logRequested: (verification) => logs.count(formatLabels(["usage"], [verification])),
    logVerificationFailed() {
      failures++;
    },
    streamsRequested: (kind, proxyType) =>
      streams.count(formatLabels(["subresource", "proxy_type"], [kind, proxyType])),
    translated: (status) => translated.count(formatLabels(["code"], [String(status)])),
    tunneled: (status) => tunneled.count(formatLabels(["code"], [String(status)])),
    collect: () => [
      counter("kube_apiserver_pod_logs_insecure_backend_total", "Requests for logs by usage of verification.", logs),
      {
        ...counter(
          "kube_apiserver_pod_logs_backend_tls_failure_total",
          "Requests for logs whose kubelet failed verification.",
        ),
        samples: [{ suffix: "", labels: "", value: failures }],
      },
      counter("apiserver_websocket_streaming_requests_total", "Requests for streams to containers.", streams),
      counter("apiserver_stream_translator_requests_total", "WebSockets translated to SPDY.", translated),
      counter("apiserver_stream_tunnel_requests_total", "WebSockets that carry SPDY.", tunneled),
    ],
  };
}

function counter(name: string, help: string, counters?: Counters): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples: counters?.samples() ?? [] };
}
