/**
 * The metrics of JWT authenticators.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/metrics.go.
 */

import type { Clock } from "../apimachinery/clock.ts";
import type { JwtObserver } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";
import type { Histogram } from "./histogram.ts";
import type { MetricRows } from "./metric-row.ts";
import { hashOf } from "./reload-metrics.ts";
import { distributed, measured, newHistogram } from "./vectors.ts";

export const jwtRows = {
  latency: {
    name: "apiserver_authentication_jwt_authenticator_latency_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Duration of the authentication of uncached tokens in seconds.",
    labels: ["jwt_issuer_hash", "result"],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  lastFetch: {
    name: "apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds",
    type: "gauge",
    stability: "ALPHA",
    help: "Time of the last fetch of the keys of an issuer, by result.",
    labels: ["apiserver_id_hash", "jwt_issuer_hash", "result"],
  },
  keySet: {
    name: "apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info",
    type: "gauge",
    stability: "ALPHA",
    help: "Always 1, with the hash of the key set of an issuer as a label.",
    labels: ["apiserver_id_hash", "hash", "jwt_issuer_hash"],
  },
} as const satisfies MetricRows;

interface JwtMetrics {
  readonly observer: JwtObserver;
  /** Removes the series of issuers that are no longer configured. */
  forget(issuers: readonly string[]): void;
  collect(): Metric[];
}

interface Fetches {
  readonly lastMs: Map<"success" | "failure", number>;
  keySetHash: string | undefined;
}

type Latencies = Readonly<Record<"success" | "failure", Histogram>>;

/**
 * @param identity see `serverIdentity`; shown as a hash
 * @param keySets whether key sets are recorded
 */
export function jwtMetrics({
  clock,
  identity,
  keySets,
}: {
  readonly clock: Clock;
  readonly identity: string;
  readonly keySets: boolean;
}): JwtMetrics {
  const server = hashOf(identity);
  const latencies = new Map<string, Latencies>();
  const fetches = new Map<string, Fetches>();
  const latenciesOf = (issuer: string): Latencies => {
    const entry = latencies.get(issuer) ?? {
      success: newHistogram(jwtRows.latency),
      failure: newHistogram(jwtRows.latency),
    };
    latencies.set(issuer, entry);
    return entry;
  };
  return {
    observer: {
      checked(issuer, accepted, durationMs) {
        latenciesOf(issuer)[accepted ? "success" : "failure"].observe(durationMs / 1000);
      },
      fetchedKeys(issuer, keySet) {
        if (!keySets) return;
        const entry = fetches.get(issuer) ?? { lastMs: new Map(), keySetHash: undefined };
        entry.lastMs.set(keySet === undefined ? "failure" : "success", clock.now());
        if (keySet !== undefined) entry.keySetHash = hashOf(keySet);
        fetches.set(issuer, entry);
      },
    },
    forget(issuers) {
      for (const issuer of issuers) {
        fetches.delete(issuer);
        latencies.delete(issuer);
      }
    },
    collect: () => [
      distributed(
        jwtRows.latency,
        [...latencies].flatMap(([issuer, results]) =>
          Object.entries(results).map(([result, histogram]) => [[hashOf(issuer), result], histogram] as const),
        ),
      ),
      measured(
        jwtRows.lastFetch,
        [...fetches].flatMap(([issuer, { lastMs }]) =>
          Array.from(lastMs, ([result, ms]) => [[server, hashOf(issuer), result], ms / 1000] as const),
        ),
      ),
      measured(
        jwtRows.keySet,
        [...fetches].flatMap(([issuer, { keySetHash: hash }]) =>
          hash === undefined ? [] : [[[server, hash, hashOf(issuer)], 1] as const],
        ),
      ),
    ],
  };
}
