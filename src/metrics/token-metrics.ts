/**
 * The metrics of all token caches of a server.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/cache/stats.go.
 */
import type { TokenCacheObserver } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { distributed, measured, newHistogram } from "./vectors.ts";

export const tokenRows = {
  requests: {
    name: "authentication_token_cache_request_total",
    type: "counter",
    stability: "ALPHA",
    help: "Token lookups by cache hit or miss.",
    labels: ["status"],
  },
  durations: {
    name: "authentication_token_cache_request_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of token lookups in seconds.",
    labels: ["status"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  fetches: {
    name: "authentication_token_cache_fetch_total",
    type: "counter",
    stability: "ALPHA",
    help: "Results of token authenticators after a cache miss.",
    labels: ["status"],
  },
  active: {
    name: "authentication_token_cache_active_fetch_count",
    type: "gauge",
    stability: "ALPHA",
    help: "Lookups that are in flight, and requests that wait for them.",
    labels: ["status"],
  },
} as const satisfies MetricRows;

/** Records lookups in token caches. */
export interface TokenMetrics {
  readonly observer: TokenCacheObserver;
  collect(): Metric[];
}

/** @returns empty metrics */
export function tokenMetrics(): TokenMetrics {
  const requests = { hit: 0, miss: 0 };
  const durations = { hit: newHistogram(tokenRows.durations), miss: newHistogram(tokenRows.durations) };
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
    collect: () => [
      measured(tokenRows.requests, byStatus(requests)),
      distributed(tokenRows.durations, byStatus(durations)),
      measured(tokenRows.fetches, byStatus(fetches)),
      measured(tokenRows.active, byStatus(active)),
    ],
  };
}

function byStatus<T>(values: Readonly<Record<string, T>>): (readonly [labels: readonly [status: string], value: T])[] {
  return Object.entries(values).map(([status, value]) => [[status], value]);
}
