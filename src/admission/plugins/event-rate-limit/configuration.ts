/**
 * The configuration of the plugin EventRateLimit.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/eventratelimit/apis/eventratelimit.
 */
import { ConfigurationError, decodeConfiguration } from "../../../apimachinery/configuration-file.ts";
import { configKind, configStruct, int32, listOf, text } from "../../../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { schemeName } from "../../config/configuration-file.ts";

/** What a limit counts together. */
export type LimitType = "Server" | "Namespace" | "User" | "SourceAndObject";

/** A limit of the plugin EventRateLimit. */
export interface EventLimit {
  readonly type: LimitType;
  /** Events per second, in the long run. */
  readonly qps: number;
  /** Events at once. */
  readonly burst: number;
  /** The number of buckets that are kept; unused for the type `Server`. */
  readonly cacheSize: number;
}

const limitSchema = configStruct("v1alpha1.Limit", {
  type: { type: text, goTypes: ["v1alpha1.LimitType"] },
  qps: int32,
  burst: int32,
  cacheSize: int32,
});
const kind = {
  apiVersion: "eventratelimit.admission.k8s.io/v1alpha1",
  kind: "Configuration",
  schema: configKind("v1alpha1.Configuration", { limits: listOf(limitSchema) }),
};
const limitTypes: readonly LimitType[] = ["Server", "Namespace", "User", "SourceAndObject"];
const defaultCacheSize = 4096;

/** @throws ConfigurationError with upstream's message; upstream sorts the supported types randomly */
export function parseEventLimits(bytes: Buffer): EventLimit[] {
  const { object } = decodeConfiguration(bytes, [kind], schemeName, { strict: false });
  const { limits } = object as { readonly limits?: readonly Partial<EventLimit>[] | null };
  const errors = new FieldErrors();
  if (!limits?.length) errors.invalid("limits", limits ?? null, "must not be empty");
  const parsed = (limits ?? []).map((limit, index) => parseLimit(limit ?? {}, `limits[${index}]`, errors));
  if (!errors.empty) throw new ConfigurationError(errors.text);
  return parsed;
}

function parseLimit(
  { type = "" as LimitType, qps = 0, burst = 0, cacheSize = 0 }: Partial<EventLimit>,
  path: string,
  errors: FieldErrors,
): EventLimit {
  if (!limitTypes.includes(type)) errors.notSupported(`${path}.type`, type, limitTypes);
  if (burst <= 0) errors.invalid(`${path}.burst`, burst, "must be positive");
  if (qps <= 0) errors.invalid(`${path}.qps`, qps, "must be positive");
  if (type !== "Server" && cacheSize < 0) errors.invalid(`${path}.cacheSize`, cacheSize, "must not be negative");
  return { type, qps, burst, cacheSize: cacheSize || defaultCacheSize };
}
