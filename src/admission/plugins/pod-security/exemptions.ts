/** Exempt requests get an audit annotation with the reason. */
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { annotatePodSecurity } from "./annotate.ts";
import type { PodSecurity } from "./contract.ts";

/** @returns whether the namespace or the user of the request is exempt */
export function isExempt(plugin: PodSecurity, attributes: AdmissionAttributes): boolean {
  const { namespaces, usernames } = plugin.configuration.exemptions;
  if (namespaces.has(attributes.namespace)) return exempt(plugin, attributes, "namespace");
  return usernames.has(attributes.user.name) && exempt(plugin, attributes, "user");
}

/** @returns whether the runtime class of the pod is exempt */
export function isExemptRuntimeClass(
  plugin: PodSecurity,
  attributes: AdmissionAttributes,
  runtimeClass: string | undefined,
): boolean {
  if (runtimeClass === undefined || !plugin.configuration.exemptions.runtimeClasses.has(runtimeClass)) return false;
  return exempt(plugin, attributes, "runtimeClass");
}

function exempt({ observer }: PodSecurity, attributes: AdmissionAttributes, why: string): true {
  observer.exempted(attributes);
  annotatePodSecurity(attributes, "exempt", why);
  return true;
}
