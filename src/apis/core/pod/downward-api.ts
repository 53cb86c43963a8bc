/** References to fields and resources of the pod itself, for variables and files. */
import type { FieldErrors } from "../../../api/field-errors.ts";
import { addInvalid } from "../../../api/validation/metadata.ts";
import { qualifiedNameProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";

/** What the value is for. */
type Use = "env" | "file";

const known = [
  ...["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"],
  ...["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName"],
  ...["status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
];

/** Sorted. */
const usable: Readonly<Record<Use, readonly string[]>> = {
  env: [
    ...["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"],
    ...["status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
  ],
  file: ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"],
};

export function validateFieldRef({ apiVersion = "", fieldPath = "" }: Part, use: Use, path: string, errors: FieldErrors): void {
  if (apiVersion === "") return errors.required(`${path}.apiVersion`);
  if (fieldPath === "") return errors.required(`${path}.fieldPath`);
  const [name, key] = splitSubscript(fieldPath);
  const problem = conversionProblem(apiVersion, fieldPath, name, key);
  if (problem !== undefined) return errors.invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`);
  if (key !== undefined) {
    const shown = name === "metadata.annotations" ? key.toLowerCase() : key; // Their case does not matter.
    addInvalid(errors, path, shown, qualifiedNameProblems(shown));
  } else if (!usable[use].includes(currentName(name))) errors.notSupported(`${path}.fieldPath`, currentName(name), usable[use]);
}

/** `metadata.labels['a']` is the name and the key. */
function splitSubscript(fieldPath: string): [name: string, key: string | undefined] {
  const bracket = fieldPath.indexOf("['");
  if (bracket <= 0 || !fieldPath.endsWith("']") || bracket + 2 > fieldPath.length - 2) return [fieldPath, undefined];
  return [fieldPath.slice(0, bracket), fieldPath.slice(bracket + 2, -2)];
}

function conversionProblem(apiVersion: string, fieldPath: string, name: string, key: string | undefined): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  if (key === undefined) return known.includes(currentName(name)) ? undefined : `field label not supported: ${fieldPath}`;
  if (name === "metadata.annotations" || name === "metadata.labels") return undefined;
  return `field label does not support subscript: ${fieldPath}`;
}

/** A name of old is still understood. */
const currentName = (name: string): string => (name === "spec.host" ? "spec.nodeName" : name);

/** Sorted. */
const resources = ["limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"];
const isHugePages = (resource: string): boolean => /^(requests|limits)\.hugepages-/.test(resource);

export function validateResourceFieldRef(reference: Part, use: Use, path: string, errors: FieldErrors): void {
  const { containerName = "", resource = "", divisor = "0" } = reference;
  if (use === "file" && containerName === "") errors.required(`${path}.containerName`);
  else if (resource === "") errors.required(`${path}.resource`);
  else if (!resources.includes(resource) && !isHugePages(resource)) errors.notSupported(`${path}.resource`, resource, resources);
  if (divisor !== "0") checkDivisor(resource, divisor, `${path}.divisor`, errors);
}

const sizes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei";

function checkDivisor(resource: string, divisor: string, path: string, errors: FieldErrors): void {
  const name = isHugePages(resource) ? "hugepages" : resource.replace(/^(limits|requests)\./, "");
  if (name === "cpu" && resource !== name) {
    if (divisor !== "1m" && divisor !== "1") {
      errors.invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  const what = { memory: "memory", "ephemeral-storage": "local ephemeral storage", hugepages: "hugepages" }[name];
  if (what === undefined || resource === name || sizes.split(", ").includes(divisor)) return;
  errors.invalid(path, resource, `only divisor's values ${sizes} are supported with the ${what} resource`);
}
