/** Strings, and `size`. Source: cel-spec, "List of Standard Definitions". */
import type { FunctionDeclaration } from "../../declarations.ts";
import {
  boolType,
  bytesType,
  type CelType,
  intType,
  listType,
  mapType,
  parameterType,
  stringType,
} from "../../types.ts";
import { sizeOf } from "../../values/containers.ts";
import { CelFailure, noSuchOverload } from "../../values/failure.ts";
import { compileMatches } from "../../values/regex.ts";
import { noImplementation } from "../../values/type-names.ts";
import { CelList, CelMap, type CelValue, type Result } from "../../values/value.ts";
import { containment, matching, traversal } from "../costs.ts";
import { declare, declareShared, member, overload } from "../declare.ts";

const two = [stringType, stringType];

function matches(text: CelValue, pattern: CelValue): Result {
  if (typeof text !== "string") return noImplementation("matches", text);
  if (typeof pattern !== "string") return noSuchOverload();
  const test = compileMatches(pattern);
  return test instanceof CelFailure ? test : test(text);
}

function size(value: CelValue): Result {
  const isSized =
    typeof value === "string" || value instanceof CelList || value instanceof CelMap || value instanceof Uint8Array;
  return isSized ? sizeOf(value) : noImplementation("size", value);
}

const sized: readonly [id: string, type: CelType][] = [
  ["bytes", bytesType],
  ["list", listType(parameterType("A"))],
  ["map", mapType(parameterType("A"), parameterType("B"))],
  ["string", stringType],
];

export const strings: readonly FunctionDeclaration[] = [
  declareShared(
    "size",
    size,
    ...sized.flatMap(([id, type]) => [overload(`size_${id}`, [type], intType), member(`${id}_size`, [type], intType)]),
  ),
  declare(
    "startsWith",
    member("starts_with_string", two, boolType, {
      evaluate: (text: string, part: string) => text.startsWith(part),
      ...traversal(0, 0),
    }),
  ),
  declare(
    "endsWith",
    member("ends_with_string", two, boolType, {
      evaluate: (text: string, part: string) => text.endsWith(part),
      ...traversal(0, 0),
    }),
  ),
  declare(
    "contains",
    member("contains_string", two, boolType, {
      evaluate: (text: string, part: string) => text.includes(part),
      ...containment,
    }),
  ),
  declareShared(
    "matches",
    matches,
    overload("matches", two, boolType), // One unit: cel-go counts the size for the member only.
    member("matches_string", two, boolType, matching),
  ),
];
