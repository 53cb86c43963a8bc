/**
 * Containers must drop all capabilities, and can add only NET_BIND_SERVICE. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_capabilities_restricted.go.
 */
import type { Check, CheckedContainer, CheckPod } from "../contract.ts";
import { joinSorted, named, securityField } from "../text.ts";
import { capabilitiesBaseline } from "./capabilities-baseline.ts";
import { exceptWindows } from "./relaxations.ts";

const isForbidden = (capability: string): boolean => capability !== "NET_BIND_SERVICE";
const added = ({ securityContext }: CheckedContainer): readonly string[] => securityContext?.capabilities?.add ?? [];

const check: CheckPod = ({ containers }) => {
  const keeping = containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes("ALL"));
  const adding = containers.filter((container) => added(container).some(isForbidden));
  if (keeping.length === 0 && adding.length === 0) return undefined;
  const forbidden = adding.flatMap(added).filter(isForbidden);
  const details = [
    ...(keeping.length > 0
      ? [`${named("container", keeping)} must set securityContext.capabilities.drop=["ALL"]`]
      : []),
    ...(adding.length > 0
      ? [`${named("container", adding)} must not include ${joinSorted(forbidden)} in securityContext.capabilities.add`]
      : []),
  ];
  return {
    reason: "unrestricted capabilities",
    detail: details.join("; "),
    fields: [
      ...keeping.map((container) => securityField(container, "capabilities.drop", '["ALL"]')),
      ...adding.map((container) => securityField(container, "capabilities.add", '["NET_BIND_SERVICE"], or unset')),
    ],
  };
};

const overrides = [capabilitiesBaseline.id];

export const capabilitiesRestricted: Check = {
  id: "capabilities_restricted",
  level: "restricted",
  versions: [
    { since: 22, check, overrides },
    { since: 25, check: exceptWindows(check), overrides },
  ],
};
