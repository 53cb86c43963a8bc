/** Strings, and `size`. */
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
import { CelFailure } from "../../values/failure.ts";
import { compileMatches } from "../../values/regex.ts";
import type { Result } from "../../values/value.ts";
import { containment, matching, traversal } from "../costs.ts";
import { declare, member, overload } from "../declare.ts";

const two = [stringType, stringType];

function matches(text: string, pattern: string): Result {
  const test = compileMatches(pattern);
  return test instanceof CelFailure ? test : test(text);
}

const sized: readonly [id: string, type: CelType][] = [
  ["bytes", bytesType],
  ["list", listType(parameterType("A"))],
  ["map", mapType(parameterType("A"), parameterType("B"))],
  ["string", stringType],
];

export const strings: readonly FunctionDeclaration[] = [
  declare(
    "size",
    ...sized.flatMap(([id, type]) => [
      overload(`size_${id}`, [type], intType, { evaluate: sizeOf }),
      member(`${id}_size`, [type], intType, { evaluate: sizeOf }),
    ]),
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
  declare(
    "matches",
    overload("matches", two, boolType, { evaluate: matches }), // One unit: cel-go counts the size for the member only.
    member("matches_string", two, boolType, { evaluate: matches, ...matching }),
  ),
];
