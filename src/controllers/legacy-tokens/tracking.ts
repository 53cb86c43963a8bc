/** Says since when the use of legacy tokens is written down. Source: kube-apiserver's legacytokentracking controller. */
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Controller } from "../contract.ts";
import { namespaceObject } from "../namespace-object.ts";
import { formatDay, parseDay } from "./dates.ts";

export const trackingName = "kube-apiserver-legacy-service-account-token-tracking";
export const trackingNamespace = "kube-system";

/** Unlike upstream's, it makes the ConfigMap again at once, not after half an hour. */
export function legacyTokenTracking({
  registry,
  logger,
}: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): Controller {
  const today = (): { since: string } => ({ since: formatDay(registry.clock.now()) });
  return namespaceObject({
    registry,
    logger,
    writer: "legacy-token-tracking-controller",
    resource: "configmaps",
    namespace: trackingNamespace,
    name: trackingName,
    make: () => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: trackingName }, data: today() }),
    correct(object: KubeObject) {
      if (parseDay(object.data?.since) !== undefined) return false;
      object.data = { ...object.data, ...today() };
      return true;
    },
  });
}
