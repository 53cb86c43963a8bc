/** How service accounts' tokens are used. Source: pkg/serviceaccount's metrics. */
import type { ServiceAccountTokenUse } from "../authentication/contract.ts";
import type { Metric } from "./exposition.ts";

export interface ServiceAccountMetrics {
  used(use: ServiceAccountTokenUse): void;
  collect(): Metric[];
}

const names: Readonly<Record<ServiceAccountTokenUse, readonly [name: string, help: string]>> = {
  legacy: ["legacy_tokens_total", "Uses of service account tokens that name no audience."],
  stale: ["stale_tokens_total", "Uses of tokens of pods that should have been read again."],
  valid: ["valid_tokens_total", "Uses of tokens of pods that need not be read again yet."],
  manual: ["legacy_manual_token_uses_total", "Uses of tokens of secrets that people made."],
  auto: ["legacy_auto_token_uses_total", "Uses of tokens of secrets that were made for an account."],
  invalidated: ["invalid_legacy_auto_token_uses_total", "Uses of tokens of secrets that are marked as invalid."],
};

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
