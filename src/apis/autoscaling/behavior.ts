/**
 * The scaling behavior of an autoscaler.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/v2/defaults.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/apis/autoscaling/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { items, type Part, struct } from "../fields.ts";

const periodSecondsMax = 1800;
const windowSecondsMax = 3600;

export function setBehaviorDefaults(behavior: Part): void {
  const [up, down] = [struct(behavior, "scaleUp"), struct(behavior, "scaleDown")];
  const all = { type: "Percent", value: 100, periodSeconds: 15 };
  up.stabilizationWindowSeconds ??= 0;
  up.selectPolicy ??= "Max";
  up.policies ??= [{ type: "Pods", value: 4, periodSeconds: 15 }, all];
  down.selectPolicy ??= "Max";
  down.policies ??= [all];
}

export function validateBehavior({ scaleUp, scaleDown }: Part, path: string, errors: FieldErrors): void {
  if (scaleUp) validateRules(scaleUp, `${path}.scaleUp`, errors);
  if (scaleDown) validateRules(scaleDown, `${path}.scaleDown`, errors);
}

const selectPolicies = ["Disabled", "Max", "Min"];

function validateRules(
  { stabilizationWindowSeconds: seconds, selectPolicy, policies, tolerance }: Part,
  path: string,
  errors: FieldErrors,
): void {
  const window = `${path}.stabilizationWindowSeconds`;
  if (seconds < 0) errors.invalid(window, seconds, "must be greater than or equal to zero");
  if (seconds > windowSecondsMax) errors.invalid(window, seconds, `must be less than or equal to ${windowSecondsMax}`);
  if (selectPolicy !== undefined && !selectPolicies.includes(selectPolicy))
    errors.notSupported(`${path}.selectPolicy`, selectPolicy, selectPolicies);
  if (items(policies).length === 0) errors.required(`${path}.policies`, "must specify at least one Policy");
  for (const [index, policy] of items(policies).entries()) validatePolicy(policy, `${path}.policies[${index}]`, errors);
  if (tolerance?.startsWith("-")) errors.invalid(`${path}.tolerance`, tolerance, "must be greater than or equal to 0");
}

function validatePolicy({ type = "", value = 0, periodSeconds = 0 }: Part, path: string, errors: FieldErrors): void {
  if (type !== "Pods" && type !== "Percent") errors.notSupported(`${path}.type`, type, ["Percent", "Pods"]);
  if (value <= 0) errors.invalid(`${path}.value`, value, "must be greater than zero");
  const period = `${path}.periodSeconds`;
  if (periodSeconds <= 0) errors.invalid(period, periodSeconds, "must be greater than zero");
  if (periodSeconds > periodSecondsMax)
    errors.invalid(period, periodSeconds, `must be less than or equal to ${periodSecondsMax}`);
}
