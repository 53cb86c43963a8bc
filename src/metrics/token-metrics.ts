/**
 * The metrics of all token caches of a server.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/cache/stats.go.
 */
import type { TokenCacheObserver } from "../authentication/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

/** Records lookups in token caches. */
export interface TokenMetrics {
  readonly observer: TokenCacheObserver;
  collect(): Metric[];
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @returns empty metrics */
export function tokenMetrics(): TokenMetrics {
  const requests = { hit: 0, miss: 0 };
  const durations = { hit: new Histogram(bounds), miss: new Histogram(bounds) };
  const fetches = { ok: 0, error: 0 };
  const active = { blocked: 0, in_flight: 0 };
  return {
    observer: {
      hit() {
        requests.hit++;
        durations.hit.observe(0); // Upstream records whole milliseconds.
      },
      missed(milliseconds) {
        requests.miss++;
        durations.miss.observe(milliseconds / 1000);
      },
      waiting(change) {
        active.blocked += change;
      },
      fetching() {
        active.in_flight++;
      },
      fetched(ok) {
        active.in_flight--;
        fetches[ok ? "ok" : "error"]++;
      },
    },
    collect() {
      const metric = (name: string, type: Metric["type"], help: string, samples: Sample[]): Metric => ({
        name: `authentication_token_cache_${name}`,
        type,
        stability: "ALPHA",
        help,
        samples,
      });
      const latencies = Object.entries(durations).flatMap(([status, histogram]) => [
        ...histogram.samples(formatLabels(["status"], [status])),
      ]);
      return [
        metric("request_total", "counter", "Token lookups by cache hit or miss.", samplesOf(requests)),
        metric("request_duration_seconds", "histogram", "Duration of token lookups in seconds.", latencies),
        metric("fetch_total", "counter", "Results of token authenticators after a cache miss.", samplesOf(fetches)),
        metric(
          "active_fetch_count",
          "gauge",
          "Lookups that are in flight, and requests that wait for them.",
          samplesOf(active),
        ),
      ];
    },
  };
}

function samplesOf(counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([status, value]) => ({
    suffix: "",
    labels: formatLabels(["status"], [status]),
    value,
  }));
}
