/** What caches of tokens do, all of a server's together. Source: apiserver's authentication/token/cache/stats.go. */
import type { TokenCacheObserver } from "../authentication/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

export interface TokenMetrics {
  readonly observer: TokenCacheObserver;
  collect(): Metric[];
}

const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function tokenMetrics(): TokenMetrics {
  const requests = { hit: 0, miss: 0 };
  const durations = { hit: new Histogram(bounds), miss: new Histogram(bounds) };
  const fetches = { ok: 0, error: 0 };
  const active = { blocked: 0, in_flight: 0 };
  return {
    observer: {
      hit() {
        requests.hit++;
        durations.hit.observe(0); // Upstream counts whole milliseconds.
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
        metric(
          "request_total",
          "counter",
          "Tokens that were looked up, by whether the answer was kept.",
          samplesOf(requests),
        ),
        metric(
          "request_duration_seconds",
          "histogram",
          "How long it took until a token's answer was there.",
          latencies,
        ),
        metric("fetch_total", "counter", "Answers of the methods behind.", samplesOf(fetches)),
        metric(
          "active_fetch_count",
          "gauge",
          "Requests that wait for an answer, and answers that are waited for.",
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
