/**
 * The metrics of service account tokens.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/metrics.go.
 */
import type { ServiceAccountTokenUse } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRow } from "./metric-row.ts";
import { single } from "./vectors.ts";

export const serviceAccountRows = {
  legacy: {
    name: "serviceaccount_legacy_tokens_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of service account tokens without an audience.",
  },
  stale: {
    name: "serviceaccount_stale_tokens_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of pod tokens after their renewal time.",
  },
  valid: {
    name: "serviceaccount_valid_tokens_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of pod tokens before their renewal time.",
  },
  manual: {
    name: "serviceaccount_legacy_manual_token_uses_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of tokens of manually created secrets.",
  },
  auto: {
    name: "serviceaccount_legacy_auto_token_uses_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of tokens of automatically created secrets.",
  },
  invalidated: {
    name: "serviceaccount_invalid_legacy_auto_token_uses_total",
    type: "counter",
    stability: "ALPHA",
    help: "Uses of tokens of secrets marked as invalid.",
  },
} as const satisfies Readonly<Record<ServiceAccountTokenUse, MetricRow>>;

/** Records uses of service account tokens. */
export interface ServiceAccountMetrics {
  used(use: ServiceAccountTokenUse): void;
  collect(): Metric[];
}

/** @returns empty metrics */
export function serviceAccountMetrics(): ServiceAccountMetrics {
  const uses = Object.keys(serviceAccountRows) as ServiceAccountTokenUse[];
  const counts = new Map(uses.map((use) => [use, 0]));
  return {
    used: (use) => void counts.set(use, (counts.get(use) ?? 0) + 1),
    collect: () => Array.from(counts, ([use, count]) => single(serviceAccountRows[use], count)),
  };
}
