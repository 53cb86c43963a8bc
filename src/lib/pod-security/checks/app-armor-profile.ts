/**
 * Pods must not disable AppArmor. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_appArmorProfile.go.
 */

import { sortKeys } from "../../json/encode-any.ts";
import { quoteGo } from "../../json/quote.ts";
import type { Check, CheckedPod, CheckPod, ViolatingField } from "../contract.ts";
import { joinQuoted, plural, securityField, setters, sortedSet } from "../text.ts";

const annotationPrefix = "container.apparmor.security.beta.kubernetes.io/";
const allowedTypes: ReadonlySet<unknown> = new Set(["RuntimeDefault", "Localhost"]);

const check: CheckPod = (pod) => {
  const bad = [pod.pod, ...pod.containers].filter(
    ({ securityContext }) =>
      securityContext?.appArmorProfile !== undefined && !allowedTypes.has(securityContext.appArmorProfile.type),
  );
  const annotations = badAnnotations(pod);
  if (bad.length === 0 && annotations.length === 0) return undefined;
  const types = bad.map(({ securityContext }) => securityContext?.appArmorProfile?.type ?? "");
  const values = [...sortedSet(types), ...sortKeys(annotations.map(([name, value]) => `${name}=${quoteGo(value)}`))];
  const subjects = [
    ...(bad.length > 0 ? [setters(bad)] : []),
    ...(annotations.length > 0 ? [plural(annotations.length, "annotation")] : []),
  ];
  return {
    reason: plural(values.length, "forbidden AppArmor profile"),
    detail: `${subjects.join(" and ")} must not set AppArmor profile type to ${joinQuoted(values)}`,
    fields: [
      ...bad.map((holder) => securityField(holder, "appArmorProfile.type", '"RuntimeDefault" or "Localhost"')),
      ...annotations.map(annotationField),
    ],
  };
};

function badAnnotations({ annotations }: CheckedPod): [name: string, value: string][] {
  return Object.entries(annotations).filter(
    ([name, value]) =>
      name.startsWith(annotationPrefix) &&
      value !== "" &&
      value !== "runtime/default" &&
      !value.startsWith("localhost/"),
  );
}

function annotationField([name, value]: readonly [name: string, value: string]): ViolatingField {
  return { path: `metadata.annotations[${name}]`, value, allowed: '"runtime/default", "localhost/…", or unset' };
}

export const appArmorProfile: Check = {
  id: "appArmorProfile",
  level: "baseline",
  versions: [{ since: 0, check }],
};
