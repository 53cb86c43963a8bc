/** The storage kinds. */
import { strategy } from "../../resource/strategy.ts";
import { setAbsent, struct } from "../fields.ts";

export const storageClass = strategy({
  isolatesStatus: false,
  setDefaults: (object) => setAbsent(object, { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" }),
});

export const csiDriver = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  prepareForCreate(object) {
    delete object.metadata.generation; // Upstream counts from the first change on.
  },
  setDefaults(object) {
    setAbsent(struct(object, "spec"), {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: "ReadWriteOnceWithFSType",
      volumeLifecycleModes: ["Persistent"],
      requiresRepublish: false,
      seLinuxMount: false,
    });
  },
});
