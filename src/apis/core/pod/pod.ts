/**
 * Pod: starts Pending, is deleted gracefully if it is bound to a node, and has a mostly immutable
 * spec.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/strategy.go`.
 */

import { strategy } from "../../../catalog/strategy.ts";
import { metaCells } from "../../column.ts";
import { items, selectable, selectableAt, setAbsent, struct } from "../../fields.ts";
import { dropInitContainerAnnotations } from "./annotations.ts";
import { podColumns, podRowConditions } from "./columns.ts";
import { podOptions } from "./options.ts";
import {
  addGatedCondition,
  applyAppArmorAnnotations,
  dropObservedGenerations,
  keepObservedGenerations,
  mergeLabelKeys,
  setStatusDefaults,
} from "./prepare.ts";
import { qosClass } from "./qos-class.ts";
import { setPodDefaults, setPodResourceDefaults, setPodSpecDefaults } from "./spec-defaults.ts";
import { validatePodStatus } from "./status.ts";
import { ephemeralContainers, resize } from "./subresources.ts";
import { validatePodUpdate } from "./update.ts";
import { validateNewPod } from "./validate-pod.ts";
import { podStatusWarnings, podWarnings } from "./warnings.ts";

/** Strategy of `pods`. */
export const pod = strategy({
  columns: podColumns,
  cellPaths: [
    ...metaCells,
    "spec.containers.name",
    "spec.initContainers.name",
    "spec.initContainers.restartPolicy",
    "spec.nodeName",
    "spec.readinessGates",
    "status",
  ],
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
    if (spec.terminationGracePeriodSeconds < 0) spec.terminationGracePeriodSeconds = 1;
    dropInitContainerAnnotations(object.metadata);
    if (object.status) setStatusDefaults(object.status);
  },
  setStoredDefaults: ({ spec }) => setPodResourceDefaults(spec), // LimitRanger may have set resources of containers.
  keepsStatusOnCreate: true, // Only its QoS class is used.
  prepareForCreate(object, { gates, now, warn }) {
    object.status = {
      phase: "Pending",
      qosClass: object.status?.qosClass || qosClass(object.spec, gates.enabled("PodLevelResources")),
    };
    addGatedCondition(object, now);
    mergeLabelKeys(object, gates);
    applyAppArmorAnnotations(object, warn);
  },
  dropsDisabledStatus: true,
  prepareForStatusUpdate(next, old, { gates }) {
    if (old.metadata.deletionTimestamp === undefined) delete next.metadata.deletionTimestamp;
    if (old.metadata.ownerReferences === undefined) delete next.metadata.ownerReferences;
    else next.metadata.ownerReferences = old.metadata.ownerReferences;
    const status = struct(next, "status");
    setAbsent(status, { qosClass: old.status?.qosClass });
    if (!gates.enabled("PodObservedGenerationTracking")) dropObservedGenerations(status, old.status ?? {});
    keepObservedGenerations(status, old.status ?? {});
  },
  subresources: { ephemeralcontainers: ephemeralContainers, resize },
  validate: (object, errors, context) => validateNewPod(object, podOptions(context), errors),
  validateUpdate: (next, old, errors, context) => validatePodUpdate(next, old, podOptions(context, old), errors),
  validateStatusUpdate: (next, old, errors, context) => validatePodStatus(next, old, podOptions(context, old), errors),
  warnings: podWarnings,
  statusWarnings: podStatusWarnings,
  gracePeriod(object, seconds) {
    const phase = object.status?.phase;
    if (!object.spec?.nodeName || phase === "Failed" || phase === "Succeeded") return { seconds: 0 };
    const requested = seconds ?? Number(object.spec.terminationGracePeriodSeconds ?? 0);
    return { seconds: requested < 0 ? 1 : requested };
  },
});
