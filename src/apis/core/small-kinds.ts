/** ServiceAccount and the other core kinds of which little is special. */
import { strategy } from "../../resource/strategy.ts";
import { items, selectable, setAbsent, struct } from "../fields.ts";
import { setTemplateDefaults } from "./pod-template.ts";

export const serviceAccount = strategy({ isolatesStatus: false });

export const limitRange = strategy({
  isolatesStatus: false,
  setDefaults(object) {
    for (const limit of items(struct(object, "spec").limits)) {
      if (limit.type !== "Container") continue;
      // What a container may at most use is its default; what it is limited to, or at least needs, is what it asks for.
      limit.default = { ...limit.max, ...limit.default };
      limit.defaultRequest = { ...limit.min, ...limit.default, ...limit.defaultRequest };
    }
  },
});

export const node = strategy({
  keepsStatusOnCreate: true,
  selectableFields: { "spec.unschedulable": (object) => selectable("spec.unschedulable")(object) || "false" },
});

export const endpoints = strategy({
  isolatesStatus: false,
  setDefaults(object) {
    for (const subset of items(object.subsets)) for (const port of items(subset.ports)) setAbsent(port, { protocol: "TCP" });
  },
});

export const podTemplate = strategy({ isolatesStatus: false, hasGeneration: true, setDefaults: setTemplateDefaults });
