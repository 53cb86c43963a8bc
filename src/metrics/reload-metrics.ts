/**
 * The metrics of configuration reloads.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/authenticationconfig/metrics/metrics.go.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { ReloadObserver } from "../apimachinery/reload-observer.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

/** The configurations that are reloaded. */
type ReloadedPart = "authentication" | "authorization" | "encryption";

const rowsOf = <const Stability extends "ALPHA" | "BETA">(part: ReloadedPart, stability: Stability) =>
  ({
    reloads: {
      name: `apiserver_${part}_config_controller_automatic_reloads_total`,
      type: "counter",
      stability,
      help: `Reloads of the ${part} configuration by result.`,
      labels: ["apiserver_id_hash", "status"],
    },
    lastReload: {
      name: `apiserver_${part}_config_controller_automatic_reload_last_timestamp_seconds`,
      type: "gauge",
      stability,
      help: `Time of the last reload of the ${part} configuration by result.`,
      labels: ["apiserver_id_hash", "status"],
    },
    info: {
      name: `apiserver_${part}_config_controller_last_config_info`,
      type: "gauge",
      stability: "ALPHA",
      help: `Always 1, with the hash of the current ${part} configuration as a label.`,
      labels: ["apiserver_id_hash", "hash"],
    },
  }) as const satisfies MetricRows;

export const reloadRows = {
  authentication: rowsOf("authentication", "BETA"),
  authorization: rowsOf("authorization", "BETA"),
  encryption: rowsOf("encryption", "ALPHA"),
};

interface ReloadMetrics extends ReloadObserver {
  collect(): Metric[];
}

/** @param part the configuration @param identity see `serverIdentity`; shown as a hash */
export function reloadMetrics(
  part: ReloadedPart,
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
): ReloadMetrics {
  const rows = reloadRows[part];
  const server = hashOf(identity);
  const results = new Map<"success" | "failure", { count: number; lastMs: number }>();
  let applied: string | undefined;

  const record = (status: "success" | "failure"): void => {
    results.set(status, { count: (results.get(status)?.count ?? 0) + 1, lastMs: clock.now() });
  };
  return {
    started(content) {
      applied = hashOf(content);
    },
    succeeded(content) {
      applied = hashOf(content);
      record("success");
    },
    failed: () => record("failure"),
    collect: () => [
      measured(
        rows.reloads,
        Array.from(results, ([status, { count }]) => [[server, status], count] as const),
      ),
      measured(
        rows.lastReload,
        Array.from(results, ([status, { lastMs }]) => [[server, status], lastMs / 1000] as const),
      ),
      measured(rows.info, applied === undefined ? [] : [[[server, applied], 1]]),
    ],
  };
}

/** @returns an empty string for empty data */
/** The hash that metrics show of a file; empty for no content. */
export function hashOf(data: string | Uint8Array): string {
  return data.length === 0 ? "" : `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
