/**
 * APIService: the server of a version of an API group.
 * Sources: `k8s.io/kube-aggregator@v0.36.0/pkg/apis/apiregistration/validation/validation.go`,
 * `k8s.io/kube-aggregator@v0.36.0/pkg/registry/apiservice/strategy.go`.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import {
  dns1035LabelProblems,
  dnsSubdomainProblems,
  pathSegmentNameProblems,
  portNumberProblems,
} from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { items, keepMetaForStatus, type Part, struct } from "../fields.ts";

/** The strategy of APIService. */
export const apiService = strategy({
  columns: [
    nameColumn,
    text("Service", "The reference to the service that hosts this API endpoint.", ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ""}/${spec.service.name ?? ""}` : "Local",
    ),
    text("Available", "Whether this service is available.", availability),
    ageColumn,
  ],
  validateName: nameProblems,
  setDefaults(object) {
    const { service } = struct(object, "spec");
    if (service) service.port ??= 443;
  },
  prepareForCreate(object, { now }) {
    if (object.spec?.service !== undefined) return;
    const local = { reason: "Local", message: "Local APIServices are always available" };
    object.status = {
      conditions: [{ type: "Available", status: "True", lastTransitionTime: formatTime(now), ...local }],
    };
  },
  prepareForStatusUpdate: keepMetaForStatus,
  validate: (object, errors) => validateSpec(object.spec ?? {}, errors),
  validateUpdate(next, _old, errors) {
    const validateName = (name: string, prefix: boolean): string[] => nameProblems(name, prefix, next);
    validateMetaAgain(next.metadata, { namespaced: false, validateName, custom: true }, errors);
    validateSpec(next.spec ?? {}, errors);
  },
  validateStatusUpdate(next, _old, errors) {
    for (const [index, { status = "" }] of items(next.status?.conditions).entries()) {
      const states = ["True", "False", "Unknown"];
      if (!states.includes(status)) errors.notSupported(`status.conditions[${index}].status`, status, states);
    }
  },
});

/** Validates a name of version and group. */
function nameProblems(name: string, _prefix: boolean, { spec = {} }: KubeObject): string[] {
  const problems = pathSegmentNameProblems(name);
  if (problems.length > 0) return problems;
  const required = `${spec.version ?? ""}.${spec.group ?? ""}`;
  return name === required ? [] : [`must be \`spec.version+"."+spec.group\`: ${quoteGo(required)}`];
}

function validateSpec(spec: Part, errors: FieldErrors): void {
  const { group = "", version = "", groupPriorityMinimum: groupPriority = 0, versionPriority = 0 } = spec;
  if (group === "" && version !== "v1")
    errors.required("spec.group", "only v1 may have an empty group and it better be legacy kube");
  if (group !== "") addInvalid(errors, "spec.group", group, dnsSubdomainProblems(group));
  addInvalid(errors, "spec.version", version, dns1035LabelProblems(version));
  if (groupPriority <= 0 || groupPriority > 20_000)
    errors.invalid("spec.groupPriorityMinimum", groupPriority, "must be positive and less than 20000");
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.invalid("spec.versionPriority", versionPriority, "must be positive and less than 1000");
  const bundleBytes = Buffer.from(spec.caBundle ?? "", "base64").length;
  const { service, insecureSkipTLSVerify: insecure = false } = spec;
  if (service !== undefined) return validateService(service, insecure && bundleBytes > 0, errors);
  if (bundleBytes > 0)
    errors.invalid("spec.caBundle", `${bundleBytes} bytes`, "local APIServices may not have a caBundle");
  if (insecure)
    errors.invalid("spec.insecureSkipTLSVerify", true, "local APIServices may not have insecureSkipTLSVerify");
}

function validateService(
  { namespace = "", name = "", port = 0 }: Part,
  isContradictory: boolean,
  errors: FieldErrors,
): void {
  if (namespace === "") errors.required("spec.service.namespace");
  if (name === "") errors.required("spec.service.name");
  const problems = portNumberProblems(port);
  if (problems.length > 0) errors.invalid("spec.service.port", port, `port is not valid: ${problems.join(", ")}`);
  if (isContradictory) errors.invalid("spec.insecureSkipTLSVerify", true, "may not be true if caBundle is present");
}

/** The status of the condition Available, and its reason unless it is True. */
function availability({ status }: KubeObject): string {
  const condition = items(status?.conditions).find(({ type }) => type === "Available");
  if (condition === undefined) return "Unknown";
  return condition.status === "True" || !condition.reason
    ? condition.status
    : `${condition.status} (${condition.reason})`;
}
