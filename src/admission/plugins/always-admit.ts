/**
 * The deprecated plugins AlwaysAdmit and AlwaysDeny.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/{admit,deny}/admission.go.
 */
import type { Logger } from "../../apimachinery/logger.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { rejection } from "../rejection.ts";

/** @returns the plugin AlwaysAdmit, which does nothing */
export function alwaysAdmit(logger: Pick<Logger, "warn">): AdmissionPlugin {
  warnDeprecated("AlwaysAdmit", logger);
  return { name: "AlwaysAdmit", mutate: () => {}, validate: () => {} };
}

/**
 * @returns the plugin AlwaysDeny, which rejects every request, also those of the server: with an
 *   empty store, the start fails
 */
export function alwaysDeny(logger: Pick<Logger, "warn">): AdmissionPlugin {
  warnDeprecated("AlwaysDeny", logger);
  const deny = (attributes: AdmissionAttributes): never => {
    throw rejection(attributes, "admission control is denying all modifications");
  };
  return { name: "AlwaysDeny", mutate: deny, validate: deny };
}

function warnDeprecated(name: string, logger: Pick<Logger, "warn">): void {
  logger.warn(
    `${name} admission controller is deprecated. Please remove this controller from your configuration files and scripts.`,
  );
}
