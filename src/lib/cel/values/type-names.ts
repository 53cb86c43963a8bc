/** Run-time types of values. */
import type { CelType } from "../types.ts";
import { type CelFailure, fail, noSuchOverload } from "./failure.ts";
import { isInt } from "./int.ts";
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelObject,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from "./value.ts";

/** The name of `type(value)`. */
export function typeNameOf(value: CelValue): string {
  if (value === null) return "null_type";
  if (isInt(value)) return "int";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "string") return "string";
  if (value instanceof CelOpaque) return value.type.name;
  if (value instanceof CelObject) return value.typeName;
  if (value instanceof CelList) return "list";
  if (value instanceof CelMap) return "map";
  return names.find(([valueClass]) => value instanceof valueClass)?.[1] as string;
}

const names: [new (...args: never[]) => unknown, string][] = [
  [CelDouble, "double"],
  [CelUint, "uint"],
  [CelTimestamp, "google.protobuf.Timestamp"],
  [CelDuration, "google.protobuf.Duration"],
  [CelTypeValue, "type"],
  [CelOptional, "optional_type"],
  [Uint8Array, "bytes"],
];

/**
 * The failure of a function that the type of the first value does not implement. It is short for the
 * types that receive all calls themselves.
 * Source: cel-go, evalUnary and evalBinary in interpreter/interpretable.go
 */
export function noImplementation(name: string, value: CelValue): CelFailure {
  const receives = typeof value === "string" || value instanceof CelTimestamp || value instanceof CelDuration;
  return receives ? noSuchOverload() : fail(`no such overload: ${name}`);
}

const goTypeNames = new Map([
  ["null_type", "types.Null"],
  ["bool", "types.Bool"],
  ["int", "types.Int"],
  ["uint", "types.Uint"],
  ["double", "types.Double"],
  ["string", "types.String"],
  ["bytes", "types.Bytes"],
  ["google.protobuf.Timestamp", "types.Timestamp"],
  ["google.protobuf.Duration", "types.Duration"],
  ["type", "*types.Type"],
  ["optional_type", "*types.Optional"],
  ["list", "*types.baseList"],
  ["map", "*types.baseMap"],
  ["kubernetes.URL", "cel.URL"],
  ["kubernetes.Quantity", "cel.Quantity"],
  ["kubernetes.Semver", "cel.Semver"],
  ["kubernetes.NamedFormat", "cel.Format"],
  ["net.IP", "cel.IP"],
  ["net.CIDR", "cel.CIDR"],
  ["kubernetes.authorization.Authorizer", "library.authorizerVal"],
  ["kubernetes.authorization.PathCheck", "library.pathCheckVal"],
  ["kubernetes.authorization.GroupCheck", "library.groupCheckVal"],
  ["kubernetes.authorization.ResourceCheck", "library.resourceCheckVal"],
  ["kubernetes.authorization.Decision", "library.decisionVal"],
]);

/** The name of the value's Go type, which occurs in some messages of cel-go. */
export function goTypeNameOf(value: CelValue): string {
  const name = typeNameOf(value);
  return goTypeNames.get(name) ?? name;
}

/** Returns a test whether a value fits a parameter of this type; undefined if every value fits. */
export function matcherOf(type: CelType): ((value: unknown) => boolean) | undefined {
  switch (type.kind) {
    case "bool":
      return (value) => typeof value === "boolean";
    case "int":
      return isInt;
    case "uint":
      return (value) => value instanceof CelUint;
    case "double":
      return (value) => value instanceof CelDouble;
    case "string":
      return (value) => typeof value === "string";
    case "bytes":
      return (value) => value instanceof Uint8Array;
    case "timestamp":
      return (value) => value instanceof CelTimestamp;
    case "duration":
      return (value) => value instanceof CelDuration;
    case "list":
      return listMatcher(type.parameters[0]);
    case "map":
      return (value) => value instanceof CelMap;
    case "type":
      return (value) => value instanceof CelTypeValue;
    case "null":
      return (value) => value === null;
    case "object":
      return (value) => value instanceof CelObject;
    case "opaque":
      return opaqueMatcher(type);
    default:
      return undefined;
  }
}

/** Only the first element of a list is tested, as in cel-go. */
function listMatcher(element: CelType | undefined): (value: unknown) => boolean {
  const matches = element === undefined ? undefined : matcherOf(element);
  if (matches === undefined) return (value) => value instanceof CelList;
  return (value) => value instanceof CelList && (value.size === 0 || matches(value.at(0)));
}

function opaqueMatcher(type: CelType): (value: unknown) => boolean {
  if (type.name === "optional_type") return (value) => value instanceof CelOptional;
  return (value) => value instanceof CelOpaque && value.type.name === type.name;
}
