/** Comprehensions with two variables. Source: cel-go, ext.TwoVarComprehensions */
import { type Library, library } from "../library.ts";
import { twoVariableMacros } from "../macros.ts";
import { mapType, parameterType } from "../types.ts";
import { HashMap } from "../values/containers.ts";
import { isNumber, rawNumber } from "../values/equality.ts";
import { fail } from "../values/failure.ts";
import type { CelMap, CelValue, Result } from "../values/value.ts";
import { declare, overload } from "./declare.ts";

const [key, value] = [parameterType("K"), parameterType("V")];
const map = mapType(key, value);

function hashMapOf(map: CelMap): HashMap {
  return map instanceof HashMap ? map : HashMap.of(map.keys().map((at) => [at, map.find(at) as CelValue]));
}

function insert(into: CelMap, at: CelValue, item: CelValue): Result {
  const keyText = isNumber(at) ? String(rawNumber(at)) : String(at);
  return hashMapOf(into).with(at, item) ?? fail(`insert failed: key ${keyText} already exists`);
}

function insertAll(into: CelMap, from: CelMap): Result {
  let result: Result = into;
  for (const at of from.keys()) {
    result = insert(result as CelMap, at, from.find(at) as CelValue);
    if (!(result instanceof HashMap)) return result;
  }
  return result;
}

/** Macros with two variables, such as `map.all(key, value, predicate)`. */
export const twoVariableComprehensions: Library = library({
  macros: twoVariableMacros,
  functions: [
    declare(
      "cel.@mapInsert",
      overload("@mapInsert_map_key_value", [map, key, value], map, { evaluate: insert }),
      overload("@mapInsert_map_map", [map, map], map, { evaluate: insertAll }),
    ),
  ],
});
