/**
 * The plugin EventRateLimit rejects events beyond configured rates, so that they do not fill the
 * store.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/eventratelimit/admission.go.
 */
import type { Clock } from "../../../apimachinery/clock.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import { joinErrors } from "../../../lib/json/quote.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import type { EventLimit, LimitType } from "./configuration.ts";
import { tokenBuckets } from "./token-bucket.ts";

/** @returns the plugin EventRateLimit, which limits events of the core group as upstream's */
export function eventRateLimit(limits: readonly EventLimit[], clock: Pick<Clock, "now">): AdmissionPlugin {
  const enforced = limits.map(({ type, qps, burst, cacheSize }) => {
    const bucketsMax = type === "Server" ? 1 : cacheSize;
    return { type, keyOf: keys[type], takeToken: tokenBuckets({ qps, burst, bucketsMax, clock }) };
  });
  return {
    name: "EventRateLimit",
    validate(attributes) {
      if (!isLimited(attributes)) return;
      const reached = enforced.flatMap(({ type, keyOf, takeToken }) => {
        const key = keyOf(attributes);
        return takeToken(key) ? [] : [`limit reached on type ${type} for key ${key}`];
      });
      if (reached.length > 0) throw tooManyRequests(joinErrors(reached));
    },
  };
}

function isLimited({ operation, target, dryRun }: AdmissionAttributes): boolean {
  if ((operation !== "CREATE" && operation !== "UPDATE") || dryRun) return false;
  const { group, resource } = target.resource.definition;
  return group === "" && resource === "events";
}

const keys: Readonly<Record<LimitType, (attributes: AdmissionAttributes) => string>> = {
  Server: () => "",
  Namespace: ({ namespace }) => namespace,
  User: ({ user }) => user.name,
  SourceAndObject: ({ object }) => sourceAndObject(object ?? {}),
};

function sourceAndObject({ source = {}, involvedObject = {} }: Record<string, Record<string, string>>): string {
  const { component = "", host = "" } = source;
  const { kind = "", namespace = "", name = "", uid = "", apiVersion = "" } = involvedObject;
  return component + host + kind + namespace + name + uid + apiVersion;
}

/** 429 without the number of seconds to wait. */
function tooManyRequests(message: string): ApiError {
  return new ApiError({ code: 429, reason: "TooManyRequests", message: `Too many requests: ${message}` });
}
