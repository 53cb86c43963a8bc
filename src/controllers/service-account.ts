/**
 * Creates the ServiceAccount `default` in every namespace. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/serviceaccounts_controller.go`.
 */

import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Controller } from "./contract.ts";
import { writesAs } from "./controller-write.ts";
import { namespaceObject } from "./namespace-object.ts";

const name = "default";

/** The ServiceAccount that the controller creates. */
export function defaultServiceAccount(): KubeObject {
  return { kind: "ServiceAccount", apiVersion: "v1", metadata: { name } };
}

/** Creates the controller that creates the ServiceAccount `default` in each namespace. */
export function serviceAccountController(options: {
  readonly registry: RegistryContext;
  readonly logger: Logger;
}): Controller {
  const what = { writes: writesAs("service-account-controller"), resource: "serviceaccounts", name };
  return namespaceObject({ ...options, ...what, make: defaultServiceAccount });
}
