/**
 * Pods must not disable seccomp, by annotations until 1.18 and by fields since. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_seccompProfile_baseline.go.
 */
import { quoteGo } from "../../json/quote.ts";
import type { Check, CheckPod } from "../contract.ts";
import { joinSorted, plural, securityField, setters, sortedSet } from "../text.ts";
import { hasForbiddenSeccompType, seccompTypes } from "./seccomp-types.ts";

const podAnnotation = "seccomp.security.alpha.kubernetes.io/pod";
const containerPrefix = "container.seccomp.security.alpha.kubernetes.io/";

const checkAnnotations: CheckPod = ({ annotations, containers }) => {
  const names = sortedSet([podAnnotation, ...containers.map(({ name }) => containerPrefix + name)]);
  const bad = names.filter((name) => !isAllowed(annotations[name]));
  if (bad.length === 0) return undefined;
  const texts = sortedSet(bad.map((name) => `${name}=${quoteGo(annotations[name] as string)}`));
  return {
    reason: "seccompProfile",
    detail: `forbidden ${plural(bad.length, "annotation")} ${texts.join(", ")}`,
    fields: bad.map((name) => ({
      path: `metadata.annotations[${name}]`,
      value: annotations[name],
      allowed: '"runtime/default", "docker/default", "localhost/…", or unset',
    })),
  };
};

function isAllowed(value: string | undefined): boolean {
  return (
    value === undefined || value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/")
  );
}

const checkFields: CheckPod = ({ pod, containers }) => {
  const bad = [pod, ...containers].filter(hasForbiddenSeccompType);
  if (bad.length === 0) return undefined;
  const types = joinSorted(bad.map(({ securityContext }) => securityContext?.seccompProfile?.type ?? ""));
  return {
    reason: "seccompProfile",
    detail: `${setters(bad)} must not set securityContext.seccompProfile.type to ${types}`,
    fields: bad.map((holder) => securityField(holder, "seccompProfile.type", `${seccompTypes}, or unset`)),
  };
};

export const seccompProfileBaseline: Check = {
  id: "seccompProfile_baseline",
  level: "baseline",
  versions: [
    { since: 0, check: checkAnnotations },
    { since: 19, check: checkFields },
  ],
};
