/**
 * The metrics of requests for peers and of their discovery. Sources:
 * k8s.io/apiserver@v0.36.0/pkg/util/peerproxy/metrics/metrics.go and
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/discovery/aggregated/metrics.go.
 */
import type { DiscoveryObserver, PeerObserver, ResourceName } from "../forwarding/aggregator/peers/contract.ts";
import { formatLabels, type Metric } from "./exposition.ts";
import { Counters } from "./vectors.ts";

/** Records what happens with peers. */
export interface PeerMetrics {
  readonly observer: PeerObserver;
  readonly discovery: DiscoveryObserver;
  collect(): Metric[];
}

const nameLabels = ["group", "version", "resource"];

/** Creates the metrics. */
export function peerMetrics(): PeerMetrics {
  const forwarded = new Counters();
  const errors = new Counters();
  const discoveryErrors = new Counters();
  const discovery = { nopeer: 0, hit: 0, miss: 0 };
  const count = (counters: Counters, label: string, value: string, name: ResourceName): void =>
    counters.count(formatLabels([label, ...nameLabels], [value, name.group, name.version, name.resource]));
  return {
    observer: {
      forwarded: (code, name) => count(forwarded, "code", String(code), name),
      notForwarded: (type, name) => count(errors, "type", type, name),
      discoveryFailed: (type) => discoveryErrors.count(formatLabels(["type"], [type])),
    },
    discovery: (event) => {
      discovery[event] += 1;
    },
    collect: () => [
      counter("apiserver_rerouted_request_total", "Requests that peers answered.", forwarded),
      counter("apiserver_peer_proxy_errors_total", "Requests that could not be sent to a peer.", errors),
      counter("apiserver_peer_discovery_sync_errors_total", "Failures to read what peers serve.", discoveryErrors),
      total("nopeer_requests_total", "Requests for discovery without peers.", discovery.nopeer),
      total("peer_aggregated_cache_hits_total", "Discovery with peers that was built before.", discovery.hit),
      total("peer_aggregated_cache_misses_total", "Discovery with peers that was built.", discovery.miss),
    ],
  };
}

function counter(name: string, help: string, counters: Counters): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples: counters.samples() };
}

function total(name: string, help: string, value: number): Metric {
  const samples = [{ suffix: "", labels: "", value }];
  return { name: `aggregator_discovery_${name}`, type: "counter", stability: "ALPHA", help, samples };
}
