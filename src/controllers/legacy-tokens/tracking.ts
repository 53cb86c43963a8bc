/**
 * Publishes the day since which the use of legacy tokens is tracked. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/legacytokentracking`.
 */

import type { Logger } from "../../apimachinery/logger.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { Controller } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";
import { namespaceObject } from "../namespace-object.ts";
import { formatDay, parseDay } from "./dates.ts";

export const trackingName = "kube-apiserver-legacy-service-account-token-tracking";
export const trackingNamespace = "kube-system";

/** Unlike upstream, it restores the ConfigMap immediately, not after half an hour. */
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
    writes: serverWrites,
    resource: "configmaps",
    namespace: trackingNamespace,
    name: trackingName,
    make: () => ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: trackingName }, data: today() }),
    correction: {
      isNeeded: ({ data }) => parseDay(data?.since) === undefined,
      apply(object) {
        object.data = { ...object.data, ...today() };
      },
    },
  });
}
