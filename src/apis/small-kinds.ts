/** Kinds of which one or two things are special. */
import { formatTime } from "../api/clock.ts";
import { deepEqual } from "../lib/json/values.ts";
import { pathSegmentNameProblems } from "../lib/names/names.ts";
import { strategy } from "../resource/strategy.ts";
import { items, selectableAt, setAbsent, struct } from "./fields.ts";

export const priorityClass = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults: (object) => setAbsent(object, { preemptionPolicy: "PreemptLowerPriority" }),
  validateUpdate(next, old, errors) {
    if ((next.value ?? 0) !== (old.value ?? 0)) errors.forbidden("value", "may not be changed in an update.");
    if (!deepEqual(next.preemptionPolicy, old.preemptionPolicy)) errors.invalid("preemptionPolicy", next.preemptionPolicy, "field is immutable");
  },
});

export const podDisruptionBudget = strategy({ hasGeneration: true });

/** Named by whoever asks. */
export const certificateSigningRequest = strategy({
  validateName: pathSegmentNameProblems,
  selectableFields: selectableAt("spec.signerName"),
  prepareForCreate(object, { user }) {
    const spec = struct(object, "spec");
    spec.username = user.name;
    spec.uid = user.uid;
    spec.groups = [...user.groups];
    spec.extra = Object.fromEntries([...user.extra].map(([key, values]) => [key, [...values]]));
    object.status = {};
  },
  prepareForUpdate(next, old) {
    next.spec = old.spec; // A request is never changed.
  },
  subresources: {
    approval: {
      prepare(next, old, { now }) {
        next.spec = old.spec;
        next.status = { ...old.status, conditions: items(next.status?.conditions) };
        for (const condition of next.status.conditions) {
          setAbsent(condition, { lastUpdateTime: formatTime(now), lastTransitionTime: formatTime(now) });
        }
      },
      validate(next, _old, errors) {
        const types = new Set(items(next.status.conditions).map(({ type }) => type));
        if (types.has("Approved") && types.has("Denied"))
          errors.invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive");
      },
    },
  },
});

export const clusterTrustBundle = strategy({
  validateName: pathSegmentNameProblems,
  isolatesStatus: false,
  selectableFields: selectableAt("spec.signerName"),
});

export const podCertificateRequest = strategy({ selectableFields: selectableAt("spec.signerName", "spec.podName", "spec.nodeName") });

export const resourceSlice = strategy({ isolatesStatus: false, hasGeneration: true, selectableFields: selectableAt("spec.nodeName", "spec.driver") });

export const apiService = strategy({
  validateName: pathSegmentNameProblems,
  setDefaults(object) {
    const { service } = struct(object, "spec");
    if (service) setAbsent(service, { port: 443 });
  },
});

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
