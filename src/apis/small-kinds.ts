/** Kinds of which one or two things are special. */
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { strategy } from "../resource/strategy.ts";
import { items, selectableAt, setAbsent, struct } from "./fields.ts";

export const clusterTrustBundle = strategy({
  validateName: pathSegmentNameProblems,
  isolatesStatus: false,
  selectableFields: selectableAt("spec.signerName"),
});

export const podCertificateRequest = strategy({ selectableFields: selectableAt("spec.signerName", "spec.podName", "spec.nodeName") });

export const resourceSlice = strategy({ isolatesStatus: false, hasGeneration: true, selectableFields: selectableAt("spec.nodeName", "spec.driver") });

/** Raises its generation, and no more. */
export const withGeneration = strategy({ hasGeneration: true });

export const flowSchema = strategy({
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    if (!spec.matchingPrecedence) spec.matchingPrecedence = 1000;
    for (const rule of items(spec.rules)) for (const resource of items(rule.resourceRules)) resource.namespaces ??= [];
  },
});

export const priorityLevelConfiguration = strategy({
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    if (spec.limited) setAbsent(spec.limited, { nominalConcurrencyShares: 30, lendablePercent: 0 });
    if (spec.exempt) setAbsent(spec.exempt, { nominalConcurrencyShares: 0, lendablePercent: 0 });
    const queuing = spec.limited?.limitResponse?.queuing;
    if (queuing)
      for (const [field, value] of [
        ["queues", 64],
        ["handSize", 8],
        ["queueLengthLimit", 50],
      ] as const)
        queuing[field] ||= value;
  },
});
