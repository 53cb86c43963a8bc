/** Optional types. Source: cel-go, cel.OptionalTypes */
import { type Library, library } from "../library.ts";
import { optionalMacros } from "../macros.ts";
import { boolType, type CelType, dynType, listType, optionalType, parameterType, typeOf } from "../types.ts";
import { ArrayList, sizeOf } from "../values/containers.ts";
import { fail } from "../values/failure.ts";
import {
  CelDouble,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
  optionalNone,
} from "../values/value.ts";
import { declare, member, overload } from "./declare.ts";
import { optionalAccess } from "./standard/logic.ts";

const value = parameterType("V");
const optional = optionalType(value);

function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0 || value === "") return true;
  if (value instanceof CelDouble) return value.value === 0;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelDuration) return value.nanoseconds === 0n;
  if (value instanceof CelTimestamp) return value.nanoseconds === -62_135_596_800_000_000_000n; // Year 1, Go's zero time.
  return (value instanceof CelList || value instanceof CelMap || value instanceof Uint8Array) && sizeOf(value) === 0;
}

function unwrapAll(list: CelList): CelValue {
  const items: CelValue[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = list.at(at);
    if (item instanceof CelOptional && item.value !== undefined) items.push(item.value);
  }
  return new ArrayList(items);
}

/** Returns `optional.none()` for an empty list. */
function elementAt(list: CelList, index: number): CelOptional {
  return list.size === 0 ? optionalNone : new CelOptional(list.at(index));
}

const optionals: CelType = listType(optional);

/** Optional types: `optional.of(x)`, `x.?y`, `x[?y]`, `optMap` and related functions. */
export const optionalTypes: Library = library({
  macros: optionalMacros,
  features: { optionalSyntax: true },
  variables: [{ name: "optional_type", type: typeOf(optionalType(dynType)), value: new CelTypeValue("optional_type") }],
  functions: [
    ...optionalAccess,
    declare(
      "optional.of",
      overload("optional_of", [value], optional, { evaluate: (of: CelValue) => new CelOptional(of) }),
    ),
    declare(
      "optional.ofNonZeroValue",
      overload("optional_ofNonZeroValue", [value], optional, {
        evaluate: (of: CelValue) => (isZero(of) ? optionalNone : new CelOptional(of)),
      }),
    ),
    declare("optional.none", overload("optional_none", [], optional, { evaluate: () => optionalNone })),
    declare(
      "value",
      member("optional_value", [optional], value, {
        evaluate: (of: CelOptional) => (of.value === undefined ? fail("optional.none() dereference") : of.value),
      }),
    ),
    declare(
      "hasValue",
      member("optional_hasValue", [optional], boolType, { evaluate: (of: CelOptional) => of.value !== undefined }),
    ),
    declare("or", member("optional_or_optional", [optional, optional], optional)),
    declare("orValue", member("optional_orValue_value", [optional, value], value)),
    declare("optional.unwrap", overload("optional_unwrap", [optionals], listType(value), { evaluate: unwrapAll })),
    declare("unwrapOpt", member("optional_unwrapOpt", [optionals], listType(value), { evaluate: unwrapAll })),
    declare(
      "first",
      member("list_first", [listType(value)], optional, { evaluate: (list: CelList) => elementAt(list, 0) }),
    ),
    declare(
      "last",
      member("list_last", [listType(value)], optional, { evaluate: (list: CelList) => elementAt(list, list.size - 1) }),
    ),
  ],
});
