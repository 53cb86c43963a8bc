/**
 * Converts claims, their templates and slices from and to v1beta1: the fields of `exactly` are in
 * the request itself, and the fields of a device are in its `basic`.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/apis/resource/v1beta1/conversion.go
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Conversion } from "../../catalog/contract.ts";
import { items, type Part } from "../fields.ts";

const requestFields = [
  "deviceClassName",
  "selectors",
  "allocationMode",
  "count",
  "adminAccess",
  "tolerations",
  "capacity",
] as const;
/** Empty values of these fields count as absent. */
const plainFields: ReadonlySet<string> = new Set(["deviceClassName", "allocationMode", "count"]);

const isSet = (field: string, value: unknown): boolean =>
  value !== undefined && value !== null && !(plainFields.has(field) && (value === "" || value === 0));

function requestToStorage(request: Part): Part {
  const rest = { ...request };
  const exactly: Part = {};
  for (const field of requestFields) {
    if (isSet(field, rest[field])) exactly[field] = rest[field];
    delete rest[field];
  }
  return Object.keys(exactly).length === 0 ? rest : { ...rest, exactly: withoutEmpty(exactly) };
}

const requestFromStorage = ({ exactly, ...rest }: Part): Part => ({ ...rest, ...withoutEmpty(exactly ?? {}) });

/** Omits empty tolerations, as upstream's conversion does. */
function withoutEmpty({ tolerations, ...rest }: Part): Part {
  return { ...rest, ...(items(tolerations).length > 0 && { tolerations }) };
}

const deviceToStorage = ({ basic, ...rest }: Part): Part => ({ ...basic, ...rest });
const deviceFromStorage = ({ name, ...rest }: Part): Part => ({ ...(name !== undefined && { name }), basic: rest });

function mapItems(holder: Part | undefined, field: string, change: (item: Part) => Part): void {
  if (Array.isArray(holder?.[field])) holder[field] = items(holder[field]).map(change);
}

/** @param specOf returns the spec of the claim */
function claimConversion(specOf: (object: KubeObject) => Part | undefined): Conversion {
  const converted = (object: KubeObject, change: (request: Part) => Part): KubeObject => {
    mapItems(specOf(object)?.devices, "requests", change);
    return object;
  };
  return {
    toStorage: (object) => converted(object, requestToStorage),
    fromStorage: (object) => converted(object, requestFromStorage),
  };
}

/** Converts ResourceClaims. */
export const resourceClaimV1beta1 = claimConversion(({ spec }) => spec);
/** Converts ResourceClaimTemplates. */
export const resourceClaimTemplateV1beta1 = claimConversion(({ spec }) => spec?.spec);

/** Converts ResourceSlices. */
export const resourceSliceV1beta1: Conversion = {
  toStorage(object) {
    mapItems(object.spec, "devices", deviceToStorage);
    if (object.spec?.nodeName === "") delete object.spec.nodeName;
    if (object.spec?.allNodes === false) delete object.spec.allNodes;
    return object;
  },
  fromStorage(object) {
    mapItems(object.spec, "devices", deviceFromStorage);
    if (object.spec?.nodeName === "") delete object.spec.nodeName;
    if (object.spec?.allNodes === false) delete object.spec.allNodes;
    return object;
  },
};
