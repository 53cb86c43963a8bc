/**
 * The configuration of the plugin ImagePolicyWebhook, which has no kind.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/imagepolicy/config.go.
 */
import { ConfigurationError } from "../../../apimachinery/configuration-file.ts";
import { bool, configStruct, text } from "../../../apimachinery/configuration-schema.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { formatDuration } from "../../../lib/duration/duration.ts";
import type { Integer } from "../../../lib/json/values.ts";
import { readWebhookKubeconfig } from "../../../webhook/kubeconfig-file.ts";
import { decodePlainConfiguration } from "../../config/plain-configuration.ts";
import type { ImagePolicy } from "./contract.ts";

const duration = { type: { kind: "int64" }, goTypes: ["time.Duration"] } as const;
const schema = configStruct("imagepolicy.AdmissionConfig", {
  imagePolicy: configStruct("imagepolicy.imagePolicyWebhookConfig", {
    kubeConfigFile: text,
    allowTTL: duration,
    denyTTL: duration,
    retryBackoff: duration,
    defaultAllow: bool,
  }),
});

interface PolicyFields {
  readonly kubeConfigFile?: string;
  readonly allowTTL?: Integer;
  readonly denyTTL?: Integer;
  readonly retryBackoff?: Integer;
  readonly defaultAllow?: boolean;
}

interface Range {
  /** The unit of the field, in nanoseconds. */
  readonly unit: bigint;
  readonly min: bigint;
  readonly max: bigint;
  readonly defaultValue: bigint;
}

const [millisecond, second] = [1_000_000n, 1_000_000_000n];
const backoffs: Range = { unit: millisecond, min: 1n, max: 300n * second, defaultValue: 500n * millisecond };
const allowTtls: Range = { unit: second, min: second, max: 1800n * second, defaultValue: 300n * second };
const denyTtls: Range = { ...allowTtls, defaultValue: 30n * second };

/** @throws ConfigurationError with upstream's message */
export async function parseImagePolicy(bytes: Buffer, logger: Pick<Logger, "warn">): Promise<ImagePolicy> {
  const { imagePolicy } = decodePlainConfiguration(bytes, schema);
  const {
    kubeConfigFile = "",
    allowTTL,
    denyTTL,
    retryBackoff,
    defaultAllow = false,
  } = (imagePolicy ?? {}) as PolicyFields;
  const retryBackoffMs = milliseconds(retryBackoff, backoffs);
  const allowTtlMs = milliseconds(allowTTL, allowTtls);
  const denyTtlMs = milliseconds(denyTTL, denyTtls);
  if (kubeConfigFile === "")
    throw new ConfigurationError(
      "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable",
    );
  const endpoint = await readWebhookKubeconfig(kubeConfigFile, { purpose: "image policy", logger });
  return { endpoint, allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow };
}

/** 0 is the default, and -1 disables. */
function milliseconds(value: Integer = 0, { unit, min, max, defaultValue }: Range): number {
  const number = BigInt(value);
  if (number === -1n) return 0;
  // As upstream, large values overflow.
  const nanoseconds = number === 0n ? defaultValue : BigInt.asIntN(64, number * unit);
  if (nanoseconds >= min && nanoseconds <= max) return Number(nanoseconds) / Number(millisecond);
  const [least, most, got] = [min, max, nanoseconds].map(formatDuration);
  throw new ConfigurationError(`valid value is between ${least} and ${most}, got ${got}`);
}
