/**
 * PriorityLevelConfiguration.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/flowcontrol/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/flowcontrol/prioritylevelconfiguration/strategy.go`.
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { goForm } from "../../catalog/go-form.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { text } from "../column.ts";
import { type Part, struct } from "../fields.ts";
import { isFixedValue, mandatoryLevels } from "./mandatory.ts";
import { validateConditionTypes } from "./status.ts";
import { flowControlStrategy } from "./strategy.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const priorityLevelColumns: readonly Column[] = [
  nameColumn,
  text(
    "Type",
    '`type` indicates whether this priority level is subject to limitation on request execution.  A value of `"Exempt"` means that requests of this priority level are not subject to a limit (and thus are never queued) and do not detract from the capacity made available to other priority levels.  A value of `"Limited"` means that (a) requests of this priority level _are_ subject to limits and (b) some of the server\'s limited capacity is made available exclusively to this priority level. Required.',
    ({ spec }) => spec?.type ?? "",
  ),
  text(
    "NominalConcurrencyShares",
    '`nominalConcurrencyShares` (NCS) contributes to the computation of the NominalConcurrencyLimit (NominalCL) of this level. This is the number of execution seats available at this priority level. This is used both for requests dispatched from this priority level as well as requests dispatched from other priority levels borrowing seats from this level. The server\'s concurrency limit (ServerCL) is divided among the Limited priority levels in proportion to their NCS values:\n\nNominalCL(i)  = ceil( ServerCL * NCS(i) / sum_ncs ) sum_ncs = sum[priority level k] NCS(k)\n\nBigger numbers mean a larger nominal concurrency limit, at the expense of every other priority level.\n\nIf not specified, this field defaults to a value of 30.\n\nSetting this field to zero supports the construction of a "jail" for this priority level that is used to hold some request(s)',
    ({ spec }) => (spec?.limited === undefined ? "<none>" : (spec.limited.nominalConcurrencyShares ?? 0)),
  ),
  text(
    "Queues",
    "`queues` is the number of queues for this priority level. The queues exist independently at each apiserver. The value must be positive.  Setting it to 1 effectively precludes shufflesharding and thus makes the distinguisher method of associated flow schemas irrelevant.  This field has a default value of 64.",
    queuing("queues"),
  ),
  text(
    "HandSize",
    "`handSize` is a small positive number that configures the shuffle sharding of requests into queues.  When enqueuing a request at this priority level the request's flow identifier (a string pair) is hashed and the hash value is used to shuffle the list of queues and deal a hand of the size specified here.  The request is put into one of the shortest queues in that hand. `handSize` must be no larger than `queues`, and should be significantly smaller (so that a few heavy flows do not saturate most of the queues).  See the user-facing documentation for more extensive guidance on setting this field.  This field has a default value of 8.",
    queuing("handSize"),
  ),
  text(
    "QueueLengthLimit",
    "`queueLengthLimit` is the maximum number of requests allowed to be waiting in a given queue of this priority level at a time; excess requests are rejected.  This value must be positive.  If not specified, it will be defaulted to 50.",
    queuing("queueLengthLimit"),
  ),
  ageColumn,
];

const queuesMax = 10_000_000;
/** Bits of the hash that assigns queues by shuffle sharding. */
const hashBitsMax = 60;
const zeroSharesAnnotation = "flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares";

/** The strategy of PriorityLevelConfiguration. */
export const priorityLevelConfiguration = flowControlStrategy({
  columns: priorityLevelColumns,
  setDefaults(object) {
    const { limited, exempt } = struct(object, "spec");
    if (limited) {
      limited.nominalConcurrencyShares ??= 30;
      limited.lendablePercent ??= 0;
    }
    if (exempt) {
      exempt.nominalConcurrencyShares ??= 0;
      exempt.lendablePercent ??= 0;
    }
    const queuing = limited?.limitResponse?.queuing;
    if (queuing)
      Object.assign(queuing, {
        queues: queuing.queues || 64,
        handSize: queuing.handSize || 8,
        queueLengthLimit: queuing.queueLengthLimit || 50,
      });
  },
  declarative: { discriminators: ["spec.type", "spec.limited.limitResponse.type"] },
  validate,
});

function validate(object: KubeObject, errors: FieldErrors): void {
  const { metadata, spec = {} } = object;
  if (Object.hasOwn(metadata.annotations ?? {}, zeroSharesAnnotation)) {
    errors.forbidden("metadata.annotations", `annotation '${zeroSharesAnnotation}' is forbidden`);
  }
  const { name = "" } = metadata;
  validateSpec(spec, name, errors);
  checkMandatory(spec, name, errors);
  validateConditionTypes(object, errors);
}

function validateSpec({ type = "", limited, exempt }: Part, name: string, errors: FieldErrors): void {
  if ((name === "exempt") !== (type === "Exempt"))
    errors.invalid("spec.type", typedText(type), "must be 'Exempt' if and only if `name` is 'exempt'");
  if (type === "Exempt") {
    if (limited) errors.covered().forbidden("spec.limited", "must be nil if the type is not Limited");
    if (exempt) validateShares(exempt, "spec.exempt", errors);
  } else if (type === "Limited") {
    if (exempt) errors.covered().forbidden("spec.exempt", "must be nil if the type is Limited");
    if (!limited) errors.covered().required("spec.limited", "must not be empty when type is Limited");
    else validateLimited(limited, "spec.limited", errors);
  } else errors.notSupported("spec.type", type, ["Exempt", "Limited"]);
}

function validateShares(
  { nominalConcurrencyShares: shares, lendablePercent: percent }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (shares < 0) errors.invalid(`${path}.nominalConcurrencyShares`, shares, "must be a non-negative integer");
  if (percent < 0 || percent > 100)
    errors.invalid(`${path}.lendablePercent`, percent, "must be between 0 and 100, inclusive");
}

function validateLimited(limited: Part, path: string, errors: FieldErrors): void {
  const { nominalConcurrencyShares, lendablePercent, limitResponse = {}, borrowingLimitPercent: borrowing } = limited;
  validateShares({ nominalConcurrencyShares }, path, errors);
  validateResponse(limitResponse, `${path}.limitResponse`, errors);
  validateShares({ lendablePercent }, path, errors);
  if (borrowing < 0)
    errors.invalid(`${path}.borrowingLimitPercent`, borrowing, "if specified, must be a non-negative integer");
}

/** The message is upstream's. */
function validateResponse({ type = "", queuing }: Part, path: string, errors: FieldErrors): void {
  if (type === "Reject") {
    if (queuing)
      errors.covered().forbidden(`${path}.queuing`, "must be nil if limited.limitResponse.type is not Limited");
  } else if (type === "Queue") {
    if (!queuing)
      errors.covered().required(`${path}.queuing`, "must not be empty if limited.limitResponse.type is Limited");
    else validateQueuing(queuing, `${path}.queuing`, errors);
  } else errors.notSupported(`${path}.type`, type, ["Queue", "Reject"]);
}

function validateQueuing({ queues, handSize, queueLengthLimit }: Part, path: string, errors: FieldErrors): void {
  if (queueLengthLimit <= 0) errors.invalid(`${path}.queueLengthLimit`, queueLengthLimit, "must be positive");
  if (queues <= 0) errors.invalid(`${path}.queues`, queues, "must be positive");
  else if (queues > queuesMax) errors.invalid(`${path}.queues`, queues, `must not be greater than ${queuesMax}`);
  if (handSize <= 0) errors.invalid(`${path}.handSize`, handSize, "must be positive");
  else if (handSize > queues)
    errors.invalid(`${path}.handSize`, handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > hashBitsMax) {
    const why = `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${hashBitsMax}`;
    errors.invalid(`${path}.handSize`, handSize, why);
  }
}

/** The shares of the exempt level may change. */
function checkMandatory(spec: Part, name: string, errors: FieldErrors): void {
  const isExempt = name === "exempt";
  const compared = isExempt ? { ...spec, exempt: mandatoryLevels.exempt?.exempt } : spec;
  if (isFixedValue(compared, mandatoryLevels, name)) return;
  const what = isExempt ? `spec of '${name}' except the 'spec.exempt' field` : `spec of '${name}'`;
  errors.invalid("spec", goForm("PriorityLevelConfigurationSpec", spec), `${what} must equal the fixed value`);
}

/** Levels of v1beta1 and v1beta2. */
export const priorityLevelV1beta1: StoredConversion = {
  toStorage(object) {
    const { limited } = object.spec ?? {};
    if (limited) {
      // An empty value is the default there, but not at v1.
      limited.nominalConcurrencyShares = limited.assuredConcurrencyShares || 30;
      delete limited.assuredConcurrencyShares;
    }
    return object;
  },
};

function queuing(field: string): Column["value"] {
  return ({ spec }) => {
    const found: Part | undefined = spec?.limited?.limitResponse?.queuing;
    return found === undefined ? "<none>" : (found[field] ?? 0);
  };
}
