/** What is the same in every cluster, so that requests are handled whatever else is configured. Source: apiserver's apis/flowcontrol/bootstrap. */
import { deepEqual } from "../../lib/json/values.ts";
import type { Part } from "../fields.ts";

const everything = {
  resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], clusterScope: true, namespaces: ["*"] }],
  nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
};
const group = (name: string): Part => ({ kind: "Group", group: { name } });

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

export const mandatoryLevels: Readonly<Record<string, Part>> = {
  exempt: { type: "Exempt", exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  "catch-all": {
    type: "Limited",
    limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" }, lendablePercent: 0 },
  },
};

/** @returns true also where there is none of this name */
export function isFixedValue(spec: Part, fixed: Readonly<Record<string, Part>>, name: string): boolean {
  return !Object.hasOwn(fixed, name) || deepEqual(spec, fixed[name]);
}
