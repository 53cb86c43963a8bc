/**
 * The metrics of static manifests of admission plugins.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/manifest/metrics/metrics.go.
 */
import { createHash } from "node:crypto";
import type { ManifestObserver, ManifestPlugin } from "../admission/config/contract.ts";
import type { Clock } from "../apimachinery/clock.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { measured } from "./vectors.ts";

export const manifestRows = {
  reloads: {
    name: "apiserver_manifest_admission_config_controller_automatic_reloads_total",
    type: "counter",
    stability: "ALPHA",
    help: "Loads of static manifests by admission plugin and result.",
    labels: ["apiserver_id_hash", "plugin", "status"],
  },
  lastReload: {
    name: "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds",
    type: "gauge",
    stability: "ALPHA",
    help: "Time of the last load of static manifests by admission plugin and result.",
    labels: ["apiserver_id_hash", "plugin", "status"],
  },
  info: {
    name: "apiserver_manifest_admission_config_controller_last_config_info",
    type: "gauge",
    stability: "ALPHA",
    help: "Always 1, with the hash of the current static manifests as a label.",
    labels: ["apiserver_id_hash", "hash", "plugin"],
  },
} as const satisfies MetricRows;

interface ManifestMetrics extends ManifestObserver {
  collect(): Metric[];
}

/** @param identity see `serverIdentity`; shown as a hash */
export function manifestMetrics({
  clock,
  identity,
}: {
  readonly clock: Clock;
  readonly identity: string;
}): ManifestMetrics {
  const server = `sha256:${createHash("sha256").update(identity).digest("hex")}`;
  const results = new Map<string, { plugin: ManifestPlugin; status: string; count: number; lastMs: number }>();
  const hashes = new Map<ManifestPlugin, string>();

  const record = (plugin: ManifestPlugin, status: "success" | "failure"): void => {
    const key = `${plugin}/${status}`;
    results.set(key, { plugin, status, count: (results.get(key)?.count ?? 0) + 1, lastMs: clock.now() });
  };
  return {
    loaded(plugin, hash) {
      hashes.set(plugin, hash);
      record(plugin, "success");
    },
    failed: (plugin) => record(plugin, "failure"),
    collect: () => [
      measured(
        manifestRows.reloads,
        Array.from(results.values(), ({ plugin, status, count }) => [[server, plugin, status], count] as const),
      ),
      measured(
        manifestRows.lastReload,
        Array.from(
          results.values(),
          ({ plugin, status, lastMs }) => [[server, plugin, status], lastMs / 1000] as const,
        ),
      ),
      measured(
        manifestRows.info,
        Array.from(hashes, ([plugin, hash]) => [[server, hash, plugin], 1] as const),
      ),
    ],
  };
}
