/** Kinds of which one or two things are special. */
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { strategy } from "../resource/strategy.ts";
import { selectableAt } from "./fields.ts";

export const clusterTrustBundle = strategy({
  validateName: pathSegmentNameProblems,
  isolatesStatus: false,
  selectableFields: selectableAt("spec.signerName"),
});

export const podCertificateRequest = strategy({ selectableFields: selectableAt("spec.signerName", "spec.podName", "spec.nodeName") });

export const resourceSlice = strategy({ isolatesStatus: false, hasGeneration: true, selectableFields: selectableAt("spec.nodeName", "spec.driver") });

/** Raises its generation, and no more. */
export const withGeneration = strategy({ hasGeneration: true });
