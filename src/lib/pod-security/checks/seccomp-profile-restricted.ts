/**
 * Every container needs a seccomp profile, of its own or of the pod. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_seccompProfile_restricted.go.
 */
import type { Check, CheckPod } from "../contract.ts";
import { joinSorted, named, securityField, setters } from "../text.ts";
import { exceptWindows } from "./relaxations.ts";
import { seccompProfileBaseline } from "./seccomp-profile-baseline.ts";
import { hasForbiddenSeccompType, seccompTypes } from "./seccomp-types.ts";

const reason = "seccompProfile";

const check: CheckPod = ({ pod, containers }) => {
  const bad = [pod, ...containers].filter(hasForbiddenSeccompType);
  if (bad.length > 0) {
    const types = joinSorted(bad.map(({ securityContext }) => securityContext?.seccompProfile?.type ?? ""));
    return {
      reason,
      detail: `${setters(bad)} must not set securityContext.seccompProfile.type to ${types}`,
      fields: bad.map((holder) => securityField(holder, "seccompProfile.type", seccompTypes)),
    };
  }
  if (pod.securityContext?.seccompProfile !== undefined) return undefined;
  const unset = containers.filter(({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (unset.length === 0) return undefined;
  return {
    reason,
    detail: `pod or ${named("container", unset)} must set securityContext.seccompProfile.type to ${seccompTypes}`,
    fields: unset.map((container) =>
      securityField(container, "seccompProfile.type", `${seccompTypes}, here or for the pod`),
    ),
  };
};

const overrides = [seccompProfileBaseline.id];

export const seccompProfileRestricted: Check = {
  id: "seccompProfile_restricted",
  level: "restricted",
  versions: [
    { since: 19, check, overrides },
    { since: 25, check: exceptWindows(check), overrides },
  ],
};
