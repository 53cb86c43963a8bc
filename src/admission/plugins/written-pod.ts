/** Selects the writes of pods that most plugins handle. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";

/**
 * @returns the pod that a request creates or updates; undefined for other kinds, subresources and
 *   operations
 */
export function writtenPod({ operation, target, subresource, object }: AdmissionAttributes): KubeObject | undefined {
  if (operation !== "CREATE" && operation !== "UPDATE") return undefined;
  const { group, resource } = target.resource.definition;
  return group === "" && resource === "pods" && subresource === "" ? object : undefined;
}
