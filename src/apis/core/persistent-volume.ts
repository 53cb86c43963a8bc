/** PersistentVolume and PersistentVolumeClaim. */
import { formatTime } from "../../api/clock.ts";
import { strategy } from "../../resource/strategy.ts";
import { type Part, setAbsent, struct } from "../fields.ts";
import { setHostPathDefaults } from "./pod-spec.ts";

export const persistentVolume = strategy({
  setDefaults(object) {
    const spec = struct(object, "spec");
    setAbsent(spec, { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
    setHostPathDefaults(spec.hostPath);
    if (spec.iscsi) setAbsent(spec.iscsi, { iscsiInterface: "default" });
  },
  prepareForCreate(object, { now }) {
    object.status = { phase: "Pending", lastPhaseTransitionTime: formatTime(now) };
  },
  prepareForStatusUpdate(next, old, { now }) {
    const status = struct(next, "status");
    const { phase, lastPhaseTransitionTime: before } = old.status ?? {};
    const given = status.lastPhaseTransitionTime;
    if (status.phase === phase) setAbsent(status, { lastPhaseTransitionTime: before });
    else if (given === undefined || given === before) status.lastPhaseTransitionTime = formatTime(now);
  },
});

export const persistentVolumeClaim = strategy({
  setDefaults: setClaimDefaults,
  prepareForCreate(object) {
    object.status = { phase: "Pending" };
  },
});

/** Of a claim, alone or as a template. */
export function setClaimDefaults(claim: Part): void {
  setAbsent(struct(claim, "spec"), { volumeMode: "Filesystem" });
  setAbsent(struct(claim, "status"), { phase: "Pending" });
}
