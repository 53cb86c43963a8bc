/**
 * The metrics of service account tokens.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/metrics.go.
 */
import type { ServiceAccountTokenUse } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";

/** Records uses of service account tokens. */
export interface ServiceAccountMetrics {
  used(use: ServiceAccountTokenUse): void;
  collect(): Metric[];
}

const names: Readonly<Record<ServiceAccountTokenUse, readonly [name: string, help: string]>> = {
  legacy: ["legacy_tokens_total", "Uses of service account tokens without an audience."],
  stale: ["stale_tokens_total", "Uses of pod tokens after their renewal time."],
  valid: ["valid_tokens_total", "Uses of pod tokens before their renewal time."],
  manual: ["legacy_manual_token_uses_total", "Uses of tokens of manually created secrets."],
  auto: ["legacy_auto_token_uses_total", "Uses of tokens of automatically created secrets."],
  invalidated: ["invalid_legacy_auto_token_uses_total", "Uses of tokens of secrets marked as invalid."],
};

/** @returns empty metrics */
export function serviceAccountMetrics(): ServiceAccountMetrics {
  const counts: Record<ServiceAccountTokenUse, number> = {
    legacy: 0,
    stale: 0,
    valid: 0,
    manual: 0,
    auto: 0,
    invalidated: 0,
  };
  return {
    used: (use) => void counts[use]++,
    collect: () =>
      Object.entries(names).map(([use, [name, help]]) => ({
        name: `serviceaccount_${name}`,
        type: "counter",
        stability: "ALPHA",
        help,
        samples: [{ suffix: "", labels: "", value: counts[use as ServiceAccountTokenUse] }],
      })),
  };
}
