/** What is counted of a configuration file that is followed. Source: k8s.io/apiserver, server/options/{authentication,authorization}config/metrics. */
import { createHash } from "node:crypto";
import type { Clock } from "../apimachinery/clock.ts";
import type { ReloadObserver } from "../apimachinery/reload-observer.ts";
import { formatLabels, type Metric, type Sample } from "./exposition.ts";

export interface ReloadMetrics extends ReloadObserver {
  collect(): Metric[];
}

/** @param part whose configuration it is @param identity see `serverIdentity`; it is shown as a hash */
export function reloadMetrics(
  part: "authentication" | "authorization",
  { clock, identity }: { readonly clock: Clock; readonly identity: string },
): ReloadMetrics {
  const server = hashOf(identity);
  const outcomes = new Map<"success" | "failure", { count: number; lastMs: number }>();
  let applied: string | undefined;

  const tell = (status: "success" | "failure"): void => {
    outcomes.set(status, { count: (outcomes.get(status)?.count ?? 0) + 1, lastMs: clock.now() });
  };
  const samples = (read: (outcome: { count: number; lastMs: number }) => number): Sample[] =>
    [...outcomes].map(([status, outcome]) => {
      return {
        suffix: "",
        labels: formatLabels(["apiserver_id_hash", "status"], [server, status]),
        value: read(outcome),
      };
    });

  return {
    started(content) {
      applied = hashOf(content);
    },
    succeeded(content) {
      applied = hashOf(content);
      tell("success");
    },
    failed: () => tell("failure"),
    collect: () => {
      const name = `apiserver_${part}_config_controller`;
      return [
        {
          name: `${name}_automatic_reloads_total`,
          type: "counter",
          stability: "BETA",
          help: `Times the ${part} configuration was read again, by what came of it.`,
          samples: samples(({ count }) => count),
        },
        {
          name: `${name}_automatic_reload_last_timestamp_seconds`,
          type: "gauge",
          stability: "BETA",
          help: `When the ${part} configuration was last read again, by what came of it.`,
          samples: samples(({ lastMs }) => lastMs / 1000),
        },
        {
          name: `${name}_last_config_info`,
          type: "gauge",
          stability: "ALPHA",
          help: `1, with the hash of the ${part} configuration in use as a label.`,
          samples:
            applied === undefined
              ? []
              : [{ suffix: "", labels: formatLabels(["apiserver_id_hash", "hash"], [server, applied]), value: 1 }],
        },
      ];
    },
  };
}

/** Nothing has no hash. */
function hashOf(data: string | Uint8Array): string {
  return data.length === 0 ? "" : `sha256:${createHash("sha256").update(data).digest("hex")}`;
}
