/**
 * The metrics of static manifests of admission plugins.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/manifest/metrics/metrics.go.
 */
import { createHash } from "node:crypto";
import type { ManifestObserver, ManifestPlugin } from "../admission/config/contract.ts";
import type { Clock } from "../apimachinery/clock.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

interface ManifestMetrics extends ManifestObserver {
  collect(): Metric[];
}

const prefix = "apiserver_manifest_admission_config_controller";
const resultLabels = ["apiserver_id_hash", "plugin", "status"];

/** @param identity see `serverIdentity`; shown as a hash */
export function manifestMetrics({
  clock,
  identity,
}: {
  readonly clock: Clock;
  readonly identity: string;
}): ManifestMetrics {
  const server = `sha256:${createHash("sha256").update(identity).digest("hex")}`;
  const results = new Map<string, { count: number; lastMs: number }>();
  const hashes = new Map<ManifestPlugin, string>();

  const record = (plugin: ManifestPlugin, status: "success" | "failure"): void => {
    const labels = formatLabels(resultLabels, [server, plugin, status]);
    results.set(labels, { count: (results.get(labels)?.count ?? 0) + 1, lastMs: clock.now() });
  };
  const samples = (read: (result: { count: number; lastMs: number }) => number): Sample[] =>
    [...results].map(([labels, result]) => ({ suffix: "", labels, value: read(result) }));

  return {
    loaded(plugin, hash) {
      hashes.set(plugin, hash);
      record(plugin, "success");
    },
    failed: (plugin) => record(plugin, "failure"),
    collect: () => [
      {
        name: `${prefix}_automatic_reloads_total`,
        type: "counter",
        stability: "ALPHA",
        help: "Loads of static manifests by admission plugin and result.",
        samples: samples(({ count }) => count),
      },
      {
        name: `${prefix}_automatic_reload_last_timestamp_seconds`,
        type: "gauge",
        stability: "ALPHA",
        help: "Time of the last load of static manifests by admission plugin and result.",
        samples: samples(({ lastMs }) => lastMs / 1000),
      },
      {
        name: `${prefix}_last_config_info`,
        type: "gauge",
        stability: "ALPHA",
        help: "Always 1, with the hash of the current static manifests as a label.",
        samples: [...hashes].map(([plugin, hash]) => ({
          suffix: "",
          labels: formatLabels(["apiserver_id_hash", "hash", "plugin"], [server, hash, plugin]),
          value: 1,
        })),
      },
    ],
  };
}
