/**
 * The metrics of JWT authenticators.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/metrics.go.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { JwtObserver } from "../authentication/contract.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

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

const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

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
    const entry = latencies.get(issuer) ?? { success: new Histogram(bounds), failure: new Histogram(bounds) };
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
    collect() {
      return [
        metric(
          "latency_seconds",
          "histogram",
          "Duration of the authentication of uncached tokens in seconds.",
          latencySamples(latencies),
        ),
        metric(
          "jwks_fetch_last_timestamp_seconds",
          "gauge",
          "Time of the last fetch of the keys of an issuer, by result.",
          timeSamples(fetches, server),
        ),
        metric(
          "jwks_fetch_last_key_set_info",
          "gauge",
          "Always 1, with the hash of the key set of an issuer as a label.",
          keySetSamples(fetches, server),
        ),
      ];
    },
  };
}

function metric(name: string, type: Metric["type"], help: string, samples: Iterable<Sample>): Metric {
  return {
    name: `apiserver_authentication_jwt_authenticator_${name}`,
    type,
    stability: "ALPHA",
    help,
    samples: [...samples],
  };
}

function* latencySamples(latencies: ReadonlyMap<string, Latencies>): Iterable<Sample> {
  for (const [issuer, results] of latencies) {
    for (const [result, histogram] of Object.entries(results))
      yield* histogram.samples(formatLabels(["jwt_issuer_hash", "result"], [hashOf(issuer), result]));
  }
}

function* keySetSamples(fetches: ReadonlyMap<string, Fetches>, server: string): Iterable<Sample> {
  for (const [issuer, { keySetHash }] of fetches) {
    if (keySetHash === undefined) continue;
    yield {
      suffix: "",
      labels: formatLabels(["apiserver_id_hash", "hash", "jwt_issuer_hash"], [server, keySetHash, hashOf(issuer)]),
      value: 1,
    };
  }
}

function* timeSamples(fetches: ReadonlyMap<string, Fetches>, server: string): Iterable<Sample> {
  for (const [issuer, { lastMs }] of fetches) {
    for (const [result, ms] of lastMs)
      yield {
        suffix: "",
        labels: formatLabels(["apiserver_id_hash", "jwt_issuer_hash", "result"], [server, hashOf(issuer), result]),
        value: ms / 1000,
      };
  }
}

function hashOf(data: string | Uint8Array): string {
  return data.length === 0 ? "" : `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
