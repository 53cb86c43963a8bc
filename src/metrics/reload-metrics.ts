/**
 * The metrics of configuration reloads.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/authenticationconfig/metrics/metrics.go.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { ReloadObserver } from "../apimachinery/reload-observer.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

interface ReloadMetrics extends ReloadObserver {
  collect(): Metric[];
}

/** @param part the configuration @param identity see `serverIdentity`; shown as a hash */
export function reloadMetrics(
  part: "authentication" | "authorization",
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
): ReloadMetrics {
  const server = hashOf(identity);
  const results = new Map<"success" | "failure", { count: number; lastMs: number }>();
  let applied: string | undefined;

  const record = (status: "success" | "failure"): void => {
    results.set(status, { count: (results.get(status)?.count ?? 0) + 1, lastMs: clock.now() });
  };
  const samples = (read: (result: { count: number; lastMs: number }) => number): Sample[] =>
    [...results].map(([status, result]) => {
      return {
        suffix: "",
        labels: formatLabels(["apiserver_id_hash", "status"], [server, status]),
        value: read(result),
      };
    });

  return {
    started(content) {
      applied = hashOf(content);
    },
    succeeded(content) {
      applied = hashOf(content);
      record("success");
    },
    failed: () => record("failure"),
    collect: () => {
      const name = `apiserver_${part}_config_controller`;
      return [
        {
          name: `${name}_automatic_reloads_total`,
          type: "counter",
          stability: "BETA",
          help: `Reloads of the ${part} configuration by result.`,
          samples: samples(({ count }) => count),
        },
        {
          name: `${name}_automatic_reload_last_timestamp_seconds`,
          type: "gauge",
          stability: "BETA",
          help: `Time of the last reload of the ${part} configuration by result.`,
          samples: samples(({ lastMs }) => lastMs / 1000),
        },
        {
          name: `${name}_last_config_info`,
          type: "gauge",
          stability: "ALPHA",
          help: `Always 1, with the hash of the current ${part} configuration as a label.`,
          samples:
            applied === undefined
              ? []
              : [{ suffix: "", labels: formatLabels(["apiserver_id_hash", "hash"], [server, applied]), value: 1 }],
        },
      ];
    },
  };
}

/** @returns an empty string for empty data */
function hashOf(data: string | Uint8Array): string {
  return data.length === 0 ? "" : `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
