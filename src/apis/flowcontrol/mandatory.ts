/**
 * The mandatory objects, which are the same in every cluster, so that every request is classified.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/apis/flowcontrol/bootstrap/default.go`.
 */
import { deepEqual } from "../../lib/json/values.ts";
import type { Part } from "../fields.ts";

/** Rules that match all requests. */
export const everything: Part = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
/** A subject of a rule. */
export const group = (name: string): Part => ({ kind: "Group", group: { name } });

/** Specs of the mandatory flow schemas, by name. */
export const mandatorySchemas: Readonly<Record<string, Part>> = {
  exempt: {
    priorityLevelConfiguration: { name: "exempt" },
    matchingPrecedence: 1,
    rules: [{ subjects: [group("system:masters")], ...everything }],
  },
  "catch-all": {
    priorityLevelConfiguration: { name: "catch-all" },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: "ByUser" },
    rules: [{ subjects: [group("system:unauthenticated"), group("system:authenticated")], ...everything }],
  },
};

/** Specs of the mandatory priority levels, by name. */
export const mandatoryLevels: Readonly<Record<string, Part>> = {
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  "catch-all": {
    type: "Limited",
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
  },
};

/** Whether the spec is the mandatory one of this name, or the name is not mandatory. */
export function isFixedValue(spec: Part, fixed: Readonly<Record<string, Part>>, name: string): boolean {
  return !Object.hasOwn(fixed, name) || deepEqual(spec, fixed[name]);
}
