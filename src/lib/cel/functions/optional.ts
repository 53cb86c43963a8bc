/** Optional types. Source: cel-go's cel.OptionalTypes */
import { type Library, library } from "../library.ts";
import { optionalMacros } from "../macros.ts";
import { boolType, type CelType, dynType, listType, optionalType, parameterType, typeOf } from "../types.ts";
import { ArrayList, sizeOf } from "../values/containers.ts";
import { fail, noSuchOverload } from "../values/failure.ts";
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
const planned = { evaluate: noSuchOverload };

function isZero(of: CelValue): boolean {
  if (of === null || of === false || of === 0 || of === "") return true;
  if (of instanceof CelDouble) return of.value === 0;
  if (of instanceof CelUint) return of.value === 0n;
  if (of instanceof CelDuration) return of.nanoseconds === 0n;
  if (of instanceof CelTimestamp) return of.nanoseconds === -62_135_596_800_000_000_000n;
  return (of instanceof CelList || of instanceof CelMap || of instanceof Uint8Array) && sizeOf(of) === 0;
}

function unwrapAll(list: CelList): CelValue {
  const items: CelValue[] = [];
  for (let at = 0; at < list.size; at++) {
    const item = list.at(at);
    if (item instanceof CelOptional && item.value !== undefined) items.push(item.value);
  }
  return new ArrayList(items);
}

/** None, of an empty list. */
function elementAt(list: CelList, index: number): CelOptional {
  return list.size === 0 ? optionalNone : new CelOptional(list.at(index));
}

const optionals: CelType = listType(optional);

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
    declare("or", member("optional_or_optional", [optional, optional], optional, planned)),
    declare("orValue", member("optional_orValue_value", [optional, value], value, planned)),
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
