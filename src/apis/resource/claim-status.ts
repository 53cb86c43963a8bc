/**
 * Validates the status of a claim: its allocation, its consumers, and the device statuses of
 * drivers.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateConditions } from "../../apimachinery/validation/conditions.ts";
import { equalGoForms } from "../../catalog/go-equality.ts";
import { goForm } from "../../catalog/go-form.ts";
import { canonicalIp, parsePrefix } from "../../lib/ip-range/ip-address.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { validateNodeSelector } from "../core/pod/affinity.ts";
import { items, type Part } from "../fields.ts";
import { validateBindingConditions } from "./binding-conditions.ts";
import { type RequestNames, requestNames, requestsMax, validateReference, validateReferences } from "./claim-spec.ts";
import { configsMax, validateConfiguration, validateData } from "./device-config.ts";
import { validateDriverName, validateLabelName, validatePoolName, validateUid } from "./device-names.ts";
import { validateList, validateSet } from "./lists.ts";

const consumersMax = 256;
const conditionsMax = 8;
const dataBytesMax = 10 * 1024;
const addressesMax = 16;
const interfaceBytesMax = 256;
const hardwareBytesMax = 128;

const covered = ["size", "uniqueness"] as const;

/** Identifies an allocated device, or a share of it, in the form of Go's messages. */
const deviceId = ({ driver = "", pool = "", device = "", shareID = "" }: Part): Part => ({
  Driver: driver,
  Pool: pool,
  Device: device,
  ShareID: shareID,
});

const idsOf = (status: Part | undefined): ReadonlySet<string> =>
  new Set(items(status?.allocation?.devices?.results).map((result) => JSON.stringify(deviceId(result))));

/** Drops the statuses of devices that this write deallocates. */
export function dropDeallocated(next: KubeObject, old: KubeObject): void {
  const { status } = next;
  if (!status?.devices) return;
  const [before, now] = [idsOf(old.status), idsOf(status)];
  const left = items(status.devices).filter((device) => {
    const id = JSON.stringify(deviceId(device));
    return now.has(id) || !before.has(id);
  });
  if (left.length > 0) status.devices = left;
  else delete status.devices;
}

export function validateClaimStatus(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  const { status = {} } = next;
  const { reservedFor, devices, allocation } = status;
  const consumers = items(reservedFor);
  const checkConsumer = (consumer: Part, path: string): void => {
    for (const field of ["resource", "name", "uid"])
      if ((consumer[field] ?? "") === "") errors.required(`${path}.${field}`);
  };
  validateSet(
    consumers,
    { max: consumersMax, check: checkConsumer, key: ({ uid = "" }) => uid, covered },
    "status.reservedFor",
    errors,
  );
  const allocated = idsOf(status);
  // Declarative rules distinguish an empty share ID from an absent one.
  const hasEmptyShare = items(devices).some(({ shareID }) => shareID === "");
  const checkDevice = (device: Part, path: string): void => validateDevice(device, allocated, path, errors);
  validateSet(
    items(devices),
    { max: Number.POSITIVE_INFINITY, check: checkDevice, key: deviceId, covered: hasEmptyShare ? [] : ["uniqueness"] },
    "status.devices",
    errors,
  );
  if (consumers.length > 0) checkReserved(next, old, errors);
  const before = old.status?.allocation;
  if (allocation && before) checkAllocationUnchanged(allocation, before, errors);
  else if (allocation) validateAllocation(allocation, requestNames(next.spec?.devices), "status.allocation", errors);
}

function checkReserved(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  if (!next.status?.allocation)
    return errors.forbidden("status.reservedFor", "may not be specified when `allocated` is not set");
  if (next.metadata.deletionTimestamp === undefined) return;
  const textOf = ({ apiGroup, resource, name, uid }: Part): string => JSON.stringify([apiGroup, resource, name, uid]);
  const before = new Set(items(old.status?.reservedFor).map(textOf));
  if (items(next.status.reservedFor).every((consumer) => before.has(textOf(consumer)))) return;
  errors.forbidden(
    "status.reservedFor",
    "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set",
  );
}

function checkAllocationUnchanged(next: Part, old: Part, errors: FieldErrors): void {
  const shown = goForm("AllocationResult", next);
  if (!equalGoForms(shown, goForm("AllocationResult", old)))
    errors.covered("update").invalid("status.allocation", shown, "field is immutable");
}

function validateAllocation(
  { devices = {}, nodeSelector }: Part,
  names: RequestNames,
  path: string,
  errors: FieldErrors,
): void {
  const checkResult = (result: Part, at: string): void => validateResult(result, names, at, errors);
  validateList(items(devices.results), requestsMax, checkResult, `${path}.devices.results`, errors.covered("maxItems"));
  const checkConfig = (config: Part, at: string): void => validateAllocationConfig(config, names, at, errors);
  validateList(
    items(devices.config),
    2 * configsMax,
    checkConfig,
    `${path}.devices.config`,
    errors.covered("maxItems"),
  );
  if (nodeSelector) validateNodeSelector(nodeSelector, `${path}.nodeSelector`, errors);
}

function validateResult(result: Part, names: RequestNames, path: string, errors: FieldErrors): void {
  const { request = "", shareID } = result;
  validateReference(request, names, `${path}.request`, errors);
  validateDeviceNames(result, path, errors);
  validateBindingConditions(result, path, errors);
  if (shareID !== undefined) validateUid(shareID, `${path}.shareID`, errors);
}

function validateDeviceNames({ driver = "", pool = "", device = "" }: Part, path: string, errors: FieldErrors): void {
  validateDriverName(driver, `${path}.driver`, errors);
  validatePoolName(pool, `${path}.pool`, errors);
  validateLabelName(device, `${path}.device`, errors);
}

const sources = ["FromClaim", "FromClass"];

function validateAllocationConfig(config: Part, names: RequestNames, path: string, errors: FieldErrors): void {
  const { source = "" } = config;
  if (source === "") errors.covered().required(`${path}.source`);
  else if (!sources.includes(source)) errors.covered().notSupported(`${path}.source`, source, sources);
  validateReferences(config.requests, names, `${path}.requests`, errors);
  validateConfiguration(config, false, path, errors);
}

function validateDevice(device: Part, allocated: ReadonlySet<string>, path: string, errors: FieldErrors): void {
  const { shareID, conditions, data, networkData } = device;
  validateDeviceNames(device, path, errors.uncovered());
  if (shareID !== undefined) validateUid(shareID, `${path}.shareID`, errors);
  const id = deviceId(device);
  if (!allocated.has(JSON.stringify(id))) errors.invalid(path, id, "must be an allocated device in the claim");
  const count = items(conditions).length;
  if (count > conditionsMax) errors.tooMany(`${path}.conditions`, count, conditionsMax);
  validateConditions(items(conditions), `${path}.conditions`, errors);
  if (data !== undefined && data !== null) validateData(data, dataBytesMax, `${path}.data`, errors);
  if (networkData) validateNetworkData(networkData, `${path}.networkData`, errors);
}

function validateNetworkData(
  { interfaceName = "", hardwareAddress = "", ips }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (Buffer.byteLength(interfaceName) > interfaceBytesMax)
    errors.covered("maxBytes").tooLong(`${path}.interfaceName`, interfaceBytesMax);
  if (Buffer.byteLength(hardwareAddress) > hardwareBytesMax)
    errors.covered("maxBytes").tooLong(`${path}.hardwareAddress`, hardwareBytesMax);
  const check = (address: string, at: string): void => validateInterfaceAddress(address, at, errors);
  validateSet(
    (ips ?? []) as readonly string[],
    { max: addressesMax, check, key: (address) => address, covered },
    `${path}.ips`,
    errors,
  );
}

/** Validates an address with a prefix length. */
function validateInterfaceAddress(text: string, path: string, errors: FieldErrors): void {
  const prefix = parsePrefix(text);
  if (prefix === undefined)
    return errors.invalid(path, text, "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
  const { address, length } = prefix;
  const canonical = `${canonicalIp(address)}/${address.mapped && length > 32 ? length - 96 : length}`;
  if (text !== canonical) errors.invalid(path, text, `must be in canonical form (${quoteGo(canonical)})`);
}
