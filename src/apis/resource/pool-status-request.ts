/**
 * ResourcePoolStatusRequest: requests the status of a driver's pools once; a controller answers
 * once.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation_resourcepoolstatusrequest.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/resourcepoolstatusrequest/strategy.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { addInvalid, validateMetaAgain, validateMetaChangesAgain } from "../../apimachinery/validation/metadata.ts";
import { age, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems, longNameProblems, longNameProblemsOfAnyCase } from "../../lib/names/names.ts";
import { integer, text } from "../column.ts";
import { items, keepMetaForStatus, type Part, setAbsent, struct } from "../fields.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const poolStatusColumns: readonly Column[] = [
  nameColumn,
  text("Driver", "The driver to query pools for.", ({ spec }) => spec?.driver ?? ""),
  text("Total", "Total number of devices across all pools.", (request) =>
    sumOfPools(request, ({ totalDevices }) => totalDevices),
  ),
  text("Available", "Number of available devices across all pools.", (request) =>
    sumOfPools(request, ({ availableDevices }) => availableDevices),
  ),
  text("Allocated", "Number of allocated devices across all pools.", (request) =>
    sumOfPools(request, ({ allocatedDevices }) => allocatedDevices),
  ),
  text("Unavailable", "Number of unavailable devices across all pools.", (request) =>
    sumOfPools(request, ({ unavailableDevices }) => unavailableDevices),
  ),
  text("Errors", "Number of pools with validation errors.", (request) =>
    sumOfPools(request, ({ validationError }) => (validationError === undefined ? 0 : 1)),
  ),
  integer("Pools", "Total number of matching pools.", ({ status }) => status?.poolCount ?? 0),
  text("Status", "Processing status.", requestStatus),
  text("Completed", "Time since the observation completed.", (request) => {
    const end = endOf(request);
    return end?.type === "Complete" ? age(end.lastTransitionTime) : "<none>";
  }),
];

const [limitUsual, limitMax, poolsMax, conditionsMax] = [100, 1000, 1000, 10];
const nameBytesMax = 253;
const problemBytesMax = 256;

export const resourcePoolStatusRequest = strategy({
  columns: poolStatusColumns,
  repeatsMetaRules: false,
  declarative: { enforced: true, subresources: ["status"] },
  setDefaults: (object) => setAbsent(struct(object, "spec"), { limit: limitUsual }),
  prepareForStatusUpdate: keepMetaForStatus,
  validate: ({ spec = {} }, errors) => validateSpec(spec, errors),
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    // Upstream's message omits the value.
    if (!deepEqual(next.spec, old.spec)) errors.covered("immutable").invalid("spec", null, "field is immutable");
  },
  validateStatusUpdate(next, old, errors) {
    validateMetaChangesAgain(next.metadata, old.metadata, errors);
    validateStatus(next, old, errors);
  },
});

function validateSpec({ driver = "", poolName, limit }: Part, errors: FieldErrors): void {
  validateDriver(driver, "spec.driver", errors);
  if (poolName !== undefined) validatePool(poolName, "spec.poolName", errors);
  if (limit > limitMax)
    errors.covered("maximum").invalid("spec.limit", limit, `must be less than or equal to ${limitMax}`);
  checkLeast(limit, 1, "spec.limit", errors);
}

/** A stored status is immutable; declarative rules apply to changed parts only. */
function validateStatus({ status }: KubeObject, { status: old }: KubeObject, errors: FieldErrors): void {
  if (old && !deepEqual(status, old)) errors.invalid("status", status ? inGo(status) : null, "field is immutable");
  if (!status) return;
  const [conditions, pools] = [items(status.conditions), items(status.pools)];
  if (!old) validateConditions(conditions, "status.conditions", errors);
  const differs = (field: string): boolean => !deepEqual(status[field], old?.[field]);
  if (status.poolCount === undefined) {
    if (!old || differs("poolCount")) errors.covered().required("status.poolCount");
  } else if (differs("poolCount") || !old) checkLeast(status.poolCount, 0, "status.poolCount", errors);
  if (differs("pools")) validatePools(pools, "status.pools", errors);
  if (differs("conditions")) validateTypes(conditions, "status.conditions", errors);
}

function validatePools(pools: readonly Part[], path: string, errors: FieldErrors): void {
  if (pools.length > poolsMax) errors.covered("maxItems").tooMany(path, pools.length, poolsMax);
  else for (const [index, pool] of pools.entries()) validatePoolStatus(pool, `${path}[${index}]`, errors);
}

function validateTypes(conditions: readonly Part[], path: string, errors: FieldErrors): void {
  if (conditions.length > conditionsMax)
    return errors.covered("maxItems").tooMany(path, conditions.length, conditionsMax);
  const seen = new Set<unknown>();
  for (const [index, condition] of conditions.entries()) {
    if (seen.has(condition.type)) errors.covered().duplicate(`${path}[${index}]`, conditionInGo(condition));
    seen.add(condition.type);
  }
}

const conditionInGo = ({
  type = "",
  status = "",
  observedGeneration,
  lastTransitionTime = null,
  reason = "",
  message = "",
}: Part): Part => ({
  ...{ type, status, ...(observedGeneration && { observedGeneration }), lastTransitionTime, reason, message },
});

const poolInGo = (pool: Part): Part => ({
  Driver: pool.driver ?? "",
  PoolName: pool.poolName ?? "",
  Generation: pool.generation ?? 0,
  ...Object.fromEntries(optional.map((field) => [`${field[0]?.toUpperCase()}${field.slice(1)}`, pool[field] ?? null])),
});

const counts = ["totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"];
const optional = ["resourceSliceCount", ...counts, "nodeName", "validationError"];

const inGo = ({ poolCount = null, pools, conditions }: Part): Part => ({
  PoolCount: poolCount,
  Pools: pools ? items(pools).map(poolInGo) : null,
  Conditions: conditions ? items(conditions).map(conditionInGo) : null,
});

function validatePoolStatus(pool: Part, path: string, errors: FieldErrors): void {
  const { driver = "", poolName = "", generation = 0, nodeName, validationError: problem } = pool;
  validateDriver(driver, `${path}.driver`, errors);
  if (poolName === "") errors.covered().required(`${path}.poolName`);
  else validatePool(poolName, `${path}.poolName`, errors);
  if (generation === 0) errors.covered().required(`${path}.generation`);
  else checkLeast(generation, 0, `${path}.generation`, errors);
  checkLeast(pool.resourceSliceCount, 1, `${path}.resourceSliceCount`, errors);
  for (const field of counts) checkLeast(pool[field], 0, `${path}.${field}`, errors);
  if (nodeName !== undefined)
    addInvalid(errors.covered("format=k8s-long-name"), `${path}.nodeName`, nodeName, longNameProblems(nodeName));
  if (problem !== undefined && Buffer.byteLength(problem) > problemBytesMax)
    errors.covered("maxBytes").tooLong(`${path}.validationError`, problemBytesMax);
}

function validateDriver(driver: string, path: string, errors: FieldErrors): void {
  if (driver === "") errors.covered().required(path);
  else addInvalid(errors.covered("format=k8s-long-name-caseless"), path, driver, longNameProblemsOfAnyCase(driver));
}

function validatePool(name: string, path: string, errors: FieldErrors): void {
  const covered = errors.covered("format=k8s-resource-pool-name");
  if (Buffer.byteLength(name) > nameBytesMax) covered.tooLong(path, nameBytesMax);
  for (const [index, part] of name.split("/").entries()) {
    if (part === "") covered.invalid(path, name, `segment ${index}: must not be empty`);
    else for (const problem of longNameProblems(part)) covered.invalid(path, part, `segment ${index}: ${problem}`);
  }
}

function checkLeast(value: number | undefined, least: number, path: string, errors: FieldErrors): void {
  if (value !== undefined && value < least)
    errors.covered("minimum").invalid(path, value, `must be greater than or equal to ${least}`);
}

/** The condition that ends a request. */
function endOf({ status }: KubeObject): Part | undefined {
  return items(status?.conditions).find(
    ({ type, status }) => status === "True" && (type === "Complete" || type === "Failed"),
  );
}

/** Includes the number of listed pools when the list is incomplete. */
function requestStatus(request: KubeObject): string {
  const end = endOf(request)?.type ?? "Pending";
  const listed = items(request.status?.pools).length;
  const all = request.status?.poolCount ?? 0;
  return end === "Complete" && all > listed ? `Complete (${listed}/${all} pools)` : end;
}

function sumOfPools(request: KubeObject, value: (pool: Part) => number | undefined): string {
  if (request.status === undefined || endOf(request)?.type === "Failed") return "-";
  return String(items(request.status.pools).reduce((sum, pool) => sum + (value(pool) ?? 0), 0));
}
