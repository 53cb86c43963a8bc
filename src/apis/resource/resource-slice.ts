/**
 * ResourceSlice: devices of one driver on one or several nodes.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/validation/validation.go,
 *         k8s.io/kubernetes@v1.36.0/pkg/registry/resource/resourceslice/strategy.go
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { goForms } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column, DeclarativeValidation } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { validateNodeSelector } from "../core/pod/affinity.ts";
import { items, type Part, selectableAt } from "../fields.ts";
import { validateCounterSet, validateDevice } from "./device.ts";
import { hasLists } from "./device-attributes.ts";
import { qualifiedBytesMax, validateDriverName, validatePoolName } from "./device-names.ts";
import { shortenedKey, validateSet } from "./lists.ts";
import { setTaintDefaults } from "./taints.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const sliceColumns: readonly Column[] = [
  nameColumn,
  text(
    "Node",
    "NodeName identifies the node which provides the resources in this pool. A field selector can be used to list only ResourceSlice objects belonging to a certain node.\n\nThis field can be used to limit access from nodes to ResourceSlices with the same node name. It also indicates to autoscalers that adding new nodes of the same type as some old node might also make new resources available.\n\nExactly one of NodeName, NodeSelector, AllNodes, and PerDeviceNodeSelection must be set. This field is immutable.",
    ({ spec }) => spec?.nodeName ?? "",
  ),
  text(
    "Driver",
    "Driver identifies the DRA driver providing the capacity information. A field selector can be used to list only ResourceSlice objects with a certain driver name.\n\nMust be a DNS subdomain and should end with a DNS domain owned by the vendor of the driver. It should use only lower case characters. This field is immutable.",
    ({ spec }) => spec?.driver ?? "",
  ),
  text(
    "Pool",
    "Name is used to identify the pool. For node-local devices, this is often the node name, but this is not required.\n\nIt must not be longer than 253 characters and must consist of one or more DNS sub-domains separated by slashes. This field is immutable.",
    ({ spec }) => spec?.pool?.name ?? "",
  ),
  ageColumn,
];

const devicesMax = 128;
/** The limit when a device has taints, counters or lists of attributes. */
const richDevicesMax = 64;
const counterSetsMax = 8;
const covered = ["size", "uniqueness"] as const;

/** Paths of attributes have truncated keys; v1beta1 has the device's fields in `basic`. */
const normalizations: DeclarativeValidation["normalizations"] = [
  [
    /^(spec\.devices\[\d+\]\.)(?:basic\.)?attributes\[(.*)\]$/s,
    (_path, device, key) => `${device}attributes[${shortenedKey(key, qualifiedBytesMax)}]`,
  ],
  [/^spec\.devices\[(\d+)\]\.basic\./, "spec.devices[$1]."],
];

export const resourceSlice = strategy({
  columns: sliceColumns,
  isolatesStatus: false,
  declarative: { normalizations },
  hasGeneration: true,
  countsDroppedFields: true,
  selectableFields: selectableAt("spec.nodeName", "spec.driver"),
  setDefaults({ spec }, _gates, now) {
    for (const device of items(spec?.devices)) {
      for (const taint of items(device.taints)) setTaintDefaults(taint, now);
      for (const mapping of Object.values<Part>(device.nodeAllocatableResourceMappings ?? {}))
        mapping.allocationMultiplier ??= "1";
    }
  },
  validate: ({ spec = {} }, errors) => validateSpec(spec, undefined, errors),
  validateUpdate: ({ spec = {} }, old, errors) => validateSpec(spec, old.spec ?? {}, errors),
  warnings: driverWarnings,
});

function driverWarnings({ spec }: KubeObject): string[] {
  const driver: string = spec?.driver ?? "";
  if (driver === driver.toLowerCase()) return [];
  return [`spec.driver: driver names should be lowercase; ${quoteGo(driver)} contains uppercase characters`];
}

function validateSpec(spec: Part, old: Part | undefined, errors: FieldErrors): void {
  const { driver = "", pool = {}, devices, sharedCounters, perDeviceNodeSelection } = spec;
  validateDriverName(driver, "spec.driver", errors.uncovered());
  validatePool(pool, "spec.pool", errors);
  if (old !== undefined) checkUnchanged(spec, old, errors);
  validatePlace(spec, errors);
  if (sharedCounters !== undefined && devices !== undefined)
    errors.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed");
  const check = (device: Part, path: string): void => {
    const before = items(old?.devices).find(({ name = "" }) => name === (device.name ?? ""));
    validateDevice(device, before, perDeviceNodeSelection === true, path, errors);
  };
  const max = items(devices).some(isRich) ? richDevicesMax : devicesMax;
  validateSet(items(devices), { max, check, key: ({ name = "" }) => name }, "spec.devices", errors);
  const checkCounters = (set: Part, path: string): void => validateCounterSet(set, path, errors);
  validateSet(
    items(sharedCounters),
    { max: counterSetsMax, check: checkCounters, key: ({ name = "" }) => name, covered },
    "spec.sharedCounters",
    errors,
  );
}

const isRich = ({ taints, consumesCounters, attributes }: Part): boolean =>
  items(taints).length > 0 || items(consumesCounters).length > 0 || hasLists(attributes ?? {});

function validatePool(
  { name = "", resourceSliceCount = 0, generation = 0 }: Part,
  path: string,
  errors: FieldErrors,
): void {
  validatePoolName(name, `${path}.name`, errors.uncovered());
  if (resourceSliceCount <= 0)
    errors.invalid(`${path}.resourceSliceCount`, resourceSliceCount, "must be greater than zero");
  if (generation < 0) errors.invalid(`${path}.generation`, generation, "must be greater than or equal to zero");
}

function checkUnchanged(next: Part, old: Part, errors: FieldErrors): void {
  const check = (path: string, value: unknown, before: unknown): void => {
    if (value !== before) errors.invalid(path, value, "field is immutable");
  };
  check("spec.pool.name", next.pool?.name ?? "", old.pool?.name ?? "");
  check("spec.driver", next.driver ?? "", old.driver ?? "");
  check("spec.nodeName", next.nodeName ?? null, old.nodeName ?? null);
}

const placeText = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

function validatePlace(spec: Part, errors: FieldErrors): void {
  const { nodeName, nodeSelector } = spec;
  const set: string[] = [];
  if (nodeName === "") errors.invalid("spec.nodeName", nodeName, "must be either unset or set to a non-empty string");
  else if (nodeName !== undefined) {
    set.push("`nodeName`");
    addInvalid(errors, "spec.nodeName", nodeName, dnsSubdomainProblems(nodeName));
  }
  if (nodeSelector) {
    set.push("`nodeSelector`");
    validateNodeSelector(nodeSelector, "spec.nodeSelector", errors);
    const { nodeSelectorTerms: terms } = nodeSelector;
    if (items(terms).length !== 1) {
      errors.invalid(
        "spec.nodeSelector.nodeSelectorTerms",
        goForms("NodeSelectorTerm", terms),
        "must have exactly one node selector term",
      );
    }
  }
  for (const field of ["allNodes", "perDeviceNodeSelection"]) {
    if (spec[field] === false) errors.invalid(`spec.${field}`, false, "must be either unset or set to true");
    else if (spec[field] === true) set.push(`\`${field}\``);
  }
  if (set.length === 0) errors.required("spec", placeText);
  else if (set.length > 1) errors.invalid("spec", `{${set.join(", ")}}`, `${placeText}, but multiple fields are set`);
}
