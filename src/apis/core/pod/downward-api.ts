/**
 * Validation of references to fields and resources of the pod, in variables and files.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, plainText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { qualifiedNameProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";

/** Where the value is used. */
type Use = "env" | "file";

const convertibleFields = [
  ...["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"],
  ...["spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName"],
  ...["status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
];

/** Sorted. */
const fieldsByUse: Readonly<Record<Use, readonly string[]>> = {
  env: [
    ...["metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"],
    ...["status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"],
  ],
  file: ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"],
};

export function validateFieldRef(
  { apiVersion = "", fieldPath = "" }: Part,
  use: Use,
  path: string,
  errors: FieldErrors,
): void {
  if (apiVersion === "") return errors.required(`${path}.apiVersion`);
  if (fieldPath === "") return errors.required(`${path}.fieldPath`);
  const [name, key] = splitSubscript(fieldPath);
  const problem = conversionProblem(apiVersion, fieldPath, name, key);
  if (problem !== undefined)
    return errors.invalid(`${path}.fieldPath`, fieldPath, `error converting fieldPath: ${problem}`);
  if (key !== undefined) {
    const shown = name === "metadata.annotations" ? key.toLowerCase() : key; // Annotation keys are case-insensitive.
    addInvalid(errors, path, shown, qualifiedNameProblems(shown));
  } else if (!fieldsByUse[use].includes(currentName(name)))
    errors.notSupported(`${path}.fieldPath`, plainText(currentName(name)), fieldsByUse[use]);
}

/** @returns `metadata.labels` and `a` for `metadata.labels['a']` */
function splitSubscript(fieldPath: string): [name: string, key: string | undefined] {
  const bracket = fieldPath.indexOf("['");
  if (bracket <= 0 || !fieldPath.endsWith("']") || bracket + 2 > fieldPath.length - 2) return [fieldPath, undefined];
  return [fieldPath.slice(0, bracket), fieldPath.slice(bracket + 2, -2)];
}

function conversionProblem(
  apiVersion: string,
  fieldPath: string,
  name: string,
  key: string | undefined,
): string | undefined {
  if (apiVersion !== "v1") return `unsupported pod version: ${apiVersion}`;
  if (key === undefined)
    return convertibleFields.includes(currentName(name)) ? undefined : `field label not supported: ${fieldPath}`;
  if (name === "metadata.annotations" || name === "metadata.labels") return undefined;
  return `field label does not support subscript: ${fieldPath}`;
}

/** Replaces the deprecated name `spec.host`. */
const currentName = (name: string): string => (name === "spec.host" ? "spec.nodeName" : name);

/** Sorted. */
const resources = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];
const isHugePages = (resource: string): boolean => /^(requests|limits)\.hugepages-/.test(resource);

export function validateResourceFieldRef(reference: Part, use: Use, path: string, errors: FieldErrors): void {
  const { containerName = "", resource = "", divisor = "0" } = reference;
  if (use === "file" && containerName === "") errors.required(`${path}.containerName`);
  else if (resource === "") errors.required(`${path}.resource`);
  else if (!resources.includes(resource) && !isHugePages(resource))
    errors.notSupported(`${path}.resource`, plainText(resource), resources);
  if (divisor !== "0") checkDivisor(resource, divisor, `${path}.divisor`, errors);
}

const sizes = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];
const allSizes = sizes.join(", ");

/** Divisors of each resource, and how error messages list them. */
const divisors: ReadonlyMap<string, Divisors> = new Map([
  ["cpu", { resource: "cpu", supported: ["1m", "1"], shown: "1m and 1" }],
  ["memory", { resource: "memory", supported: sizes, shown: allSizes }],
  ["ephemeral-storage", { resource: "local ephemeral storage", supported: sizes, shown: allSizes }],
  ["hugepages-", { resource: "hugepages", supported: sizes, shown: allSizes }],
]);

interface Divisors {
  readonly resource: string;
  readonly supported: readonly string[];
  readonly shown: string;
}

function checkDivisor(resource: string, divisor: string, path: string, errors: FieldErrors): void {
  const kind = isHugePages(resource) ? "hugepages-" : /^(?:limits|requests)\.(.+)$/.exec(resource)?.[1];
  const rule = kind === undefined ? undefined : divisors.get(kind);
  if (rule === undefined || rule.supported.includes(divisor)) return;
  errors.invalid(
    path,
    resource,
    `only divisor's values ${rule.shown} are supported with the ${rule.resource} resource`,
  );
}
