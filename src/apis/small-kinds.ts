/** Kinds of which one or two things are special. */
import { strategy } from "../resource/strategy.ts";
import { selectableAt } from "./fields.ts";

export const resourceSlice = strategy({ isolatesStatus: false, hasGeneration: true, selectableFields: selectableAt("spec.nodeName", "spec.driver") });

/** Raises its generation, and no more. */
export const withGeneration = strategy({ hasGeneration: true });
