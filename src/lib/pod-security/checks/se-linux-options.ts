/**
 * SELinux types are limited, and users and roles must not be set. Source:
 * k8s.io/pod-security-admission@v0.36.0/policy/check_seLinuxOptions.go.
 */
import type { Check, CheckPod, Holder, ViolatingField } from "../contract.ts";
import { joinQuoted, plural, securityField, setters, sortedSet } from "../text.ts";

type Field = "type" | "user" | "role";
const fields: readonly Field[] = ["type", "user", "role"];

/** @param types the allowed types */
function checkWith(types: readonly string[]): CheckPod {
  const allowed: Readonly<Record<Field, string>> = {
    type: `${joinQuoted(types)}, or unset`,
    user: "unset",
    role: "unset",
  };
  const badFields = ({ securityContext }: Holder): Field[] => {
    const options = securityContext?.seLinuxOptions;
    if (options === undefined) return [];
    return fields.filter((field) => {
      const value = options[field] ?? "";
      return value !== "" && !(field === "type" && types.includes(value));
    });
  };
  return ({ pod, containers }) => {
    const bad = [pod, ...containers].filter((holder) => badFields(holder).length > 0);
    if (bad.length === 0) return undefined;
    const violating = bad.flatMap((holder) =>
      badFields(holder).map((field) => securityField(holder, `seLinuxOptions.${field}`, allowed[field])),
    );
    return {
      reason: "seLinuxOptions",
      detail: `${setters(bad)} set forbidden securityContext.seLinuxOptions: ${problems(violating)}`,
      fields: violating,
    };
  };
}

function problems(violating: readonly ViolatingField[]): string {
  const withField = (field: Field): ViolatingField[] => violating.filter(({ path }) => path.endsWith(`.${field}`));
  const types = sortedSet(withField("type").map(({ value }) => value as string));
  return [
    ...(types.length > 0 ? [`${plural(types.length, "type")} ${joinQuoted(types)}`] : []),
    ...(withField("user").length > 0 ? ["user may not be set"] : []),
    ...(withField("role").length > 0 ? ["role may not be set"] : []),
  ].join("; ");
}

const types = ["container_t", "container_init_t", "container_kvm_t"];

export const seLinuxOptions: Check = {
  id: "seLinuxOptions",
  level: "baseline",
  versions: [
    { since: 0, check: checkWith(types) },
    { since: 31, check: checkWith([...types, "container_engine_t"]) },
  ],
};
