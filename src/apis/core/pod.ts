/** Pod: starts Pending, is deleted gracefully once it runs on a node, and all but a few fields of its spec are fixed. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { strategy } from "../../resource/strategy.ts";
import { items, type Part, selectable, selectableAt, struct } from "../fields.ts";
import { podRowConditions } from "./pod.columns.ts";
import { setPodDefaults, setPodSpecDefaults, validatePodSpec } from "./pod-spec.ts";
import { ephemeralContainers, resize } from "./pod-subresources.ts";
import { qosClass } from "./qos-class.ts";

export const pod = strategy({
  hasGeneration: true,
  rowConditions: podRowConditions,
  selectableFields: {
    ...selectableAt("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
    "spec.hostNetwork": (object) => String(object.spec?.hostNetwork === true),
    "status.phase": selectable("status.phase"),
    "status.podIP": selectable("status.podIP"),
    "status.podIPs": (object) =>
      items(object.status?.podIPs)
        .map((address) => address.ip)
        .join(","),
    "status.nominatedNodeName": selectable("status.nominatedNodeName"),
  },
  indexedFields: ["spec.nodeName"],
  setDefaults(object) {
    const spec = struct(object, "spec");
    setPodSpecDefaults(spec);
    setPodDefaults(spec);
  },
  prepareForCreate(object) {
    object.status = { phase: "Pending", qosClass: qosClass(object.spec) };
  },
  subresources: { ephemeralcontainers: ephemeralContainers, resize },
  validate: (object, errors) => validatePodSpec(object.spec, "spec", errors),
  validateUpdate,
  gracePeriod(object, seconds) {
    const phase = object.status?.phase;
    if (!object.spec?.nodeName || phase === "Failed" || phase === "Succeeded") return { seconds: 0 };
    const wanted = seconds ?? Number(object.spec.terminationGracePeriodSeconds ?? 0);
    return { seconds: wanted < 0 ? 1 : wanted };
  },
});

const fixedText =
  "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

function validateUpdate(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  for (const list of ["containers", "initContainers"]) {
    if (items(next.spec[list]).length !== items(old.spec[list]).length)
      return errors.forbidden("spec", "pod updates may not add or remove containers");
  }
  for (const list of ["containers", "initContainers"]) {
    for (const [index, { image = "" }] of items(next.spec[list]).entries()) if (image === "") errors.required(`spec.${list}[${index}].image`);
  }
  if (!deepEqual(fixedPart(next.spec, old.spec), fixedPart(old.spec, old.spec))) errors.forbidden("spec", fixedText);
}

/** The spec without what an update may change. */
function fixedPart(spec: Part, old: Part): Part {
  const withoutImage = (container: Part): Part => ({ ...container, image: undefined });
  const { activeDeadlineSeconds: _, ...rest } = spec;
  return {
    ...rest,
    containers: items(spec.containers).map(withoutImage),
    initContainers: items(spec.initContainers).map(withoutImage),
    ephemeralContainers: undefined, // Its own subresource changes them.
    tolerations: keepsAll(items(old.tolerations), items(spec.tolerations)) ? undefined : spec.tolerations,
    terminationGracePeriodSeconds:
      Number(old.terminationGracePeriodSeconds) < 0 && spec.terminationGracePeriodSeconds === 1
        ? old.terminationGracePeriodSeconds
        : spec.terminationGracePeriodSeconds,
  };
}

/** Tolerations may be added, not taken away. */
const keepsAll = (old: readonly Part[], next: readonly Part[]): boolean =>
  old.every((toleration) => next.some((candidate) => deepEqual(candidate, toleration)));
