/**
 * The metrics of requests for peers and of their discovery. Sources:
 * k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/metrics/metrics.go and
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/metrics.go.
 */
import type { DiscoveryObserver, PeerObserver } from "../forwarding/aggregator/peers/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, single } from "./vectors.ts";

export const peerRows = {
  forwarded: {
    name: "apiserver_rerouted_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that peers answered.",
    labels: ["code", "group", "version", "resource"],
  },
  errors: {
    name: "apiserver_peer_proxy_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests that could not be sent to a peer.",
    labels: ["type", "group", "version", "resource"],
  },
  discoveryErrors: {
    name: "apiserver_peer_discovery_sync_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failures to read what peers serve.",
    labels: ["type"],
  },
  nopeer: {
    name: "aggregator_discovery_nopeer_requests_total",
    type: "counter",
    stability: "ALPHA",
    help: "Requests for discovery without peers.",
  },
  hit: {
    name: "aggregator_discovery_peer_aggregated_cache_hits_total",
    type: "counter",
    stability: "ALPHA",
    help: "Discovery with peers that was built before.",
  },
  miss: {
    name: "aggregator_discovery_peer_aggregated_cache_misses_total",
    type: "counter",
    stability: "ALPHA",
    help: "Discovery with peers that was built.",
  },
} as const satisfies MetricRows;

/** Records what happens with peers. */
export interface PeerMetrics {
  readonly observer: PeerObserver;
  readonly discovery: DiscoveryObserver;
  collect(): Metric[];
}

/** Creates the metrics. */
export function peerMetrics(): PeerMetrics {
  const forwarded = new Counters(peerRows.forwarded);
  const errors = new Counters(peerRows.errors);
  const discoveryErrors = new Counters(peerRows.discoveryErrors);
  const discovery = { nopeer: 0, hit: 0, miss: 0 };
  return {
    observer: {
      forwarded: (code, { group, version, resource }) => forwarded.count([String(code), group, version, resource]),
      notForwarded: (type, { group, version, resource }) => errors.count([type, group, version, resource]),
      discoveryFailed: (type) => discoveryErrors.count([type]),
    },
    discovery: (event) => {
      discovery[event] += 1;
    },
    collect: () => [
      ...[forwarded, errors, discoveryErrors].map((one) => one.metric()),
      ...(["nopeer", "hit", "miss"] as const).map((event) => single(peerRows[event], discovery[event])),
    ],
  };
}
