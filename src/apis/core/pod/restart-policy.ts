/**
 * Validation of the restart policies of containers and of their rules for exit codes.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import { isSidecar } from "./visit-containers.ts";

interface RestartRules {
  readonly restartRules: boolean;
  readonly restartAllContainers: boolean;
}

const policies = ["Always", "Never", "OnFailure"];
const operators = ["In", "NotIn"];
const rulesMax = 20;
const exitCodesMax = 255;

/** @param path of the container */
export function validateRestartPolicy(
  container: Part,
  path: string,
  { restartAllContainers }: RestartRules,
  errors: FieldErrors,
): void {
  const { restartPolicy, restartPolicyRules } = container;
  if (restartPolicy === undefined && restartPolicyRules === undefined) return;
  const rules = items(restartPolicyRules);
  const at = `${path}.restartPolicy`;
  if (restartPolicy === undefined) {
    if (rules.length > 0) errors.required(at, "must specify restartPolicy when restart rules are used");
  } else if (!policies.includes(restartPolicy)) errors.notSupported(at, restartPolicy, policies);
  if (rules.length > rulesMax) errors.tooMany(`${path}.restartPolicyRules`, rules.length, rulesMax);
  const actions = restartAllContainers ? ["Restart", "RestartAllContainers"] : ["Restart"];
  for (const [index, rule] of rules.entries())
    validateRule(rule, `${path}.restartPolicyRules[${index}]`, actions, errors);
}

function validateRule(
  { action = "", exitCodes }: Part,
  path: string,
  actions: readonly string[],
  errors: FieldErrors,
): void {
  if (!actions.includes(action)) errors.notSupported(`${path}.action`, action, actions);
  if (!exitCodes) return errors.required(`${path}.exitCodes`, "must be specified");
  const { operator = "", values = [] } = exitCodes;
  if (!operators.includes(operator)) errors.notSupported(`${path}.exitCodes.operator`, operator, operators);
  if (values.length > exitCodesMax) errors.tooMany(`${path}.exitCodes.values`, values.length, exitCodesMax);
}

/** Init containers can have the policy `Always` without the feature gate. */
export function validateInitRestart(container: Part, path: string, rules: RestartRules, errors: FieldErrors): void {
  const { restartPolicy, restartPolicyRules } = container;
  const hasRules = items(restartPolicyRules).length > 0;
  if (restartPolicy === undefined) {
    if (hasRules) errors.required(`${path}.restartPolicy`, "must specify restartPolicy when restart rules are used");
  } else if (!rules.restartRules) {
    if (!isSidecar(container)) errors.notSupported(`${path}.restartPolicy`, restartPolicy, ["Always"]);
  } else if (!isSidecar(container) || rules.restartAllContainers) validateRestartPolicy(container, path, rules, errors);
  else if (hasRules) {
    errors.forbidden(
      `${path}.restartPolicyRules`,
      "restartPolicyRules are not allowed for init containers with restart policy Always",
    );
  }
}
