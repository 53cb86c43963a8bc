/**
 * Splits the validation of large definitions into slices, between which the event loop handles
 * other requests.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type JsonSchemaProps, schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { patternSize } from "../../lib/structural-schema/validate/pattern-size.ts";
import { patternError } from "../../lib/structural-schema/validate/value-schema.ts";

/** Number of nested schemas and rules that are validated within a few milliseconds. */
const smallMax = 1000;

/**
 * Runs all steps.
 *
 * @param steps yields where the event loop may continue
 * @param schemas of the definition; only large ones are validated in slices
 */
export async function runInSlices(steps: Iterator<void>, schemas: readonly JsonSchemaProps[]): Promise<void> {
  const yields = isLarge(schemas);
  while (!steps.next().done) if (yields) await nextTurn();
}

/** Size of patterns, in instructions, that is usually compiled within some tens of milliseconds. */
const patternSliceMax = 5000;

/**
 * Compiles all patterns of a schema in slices. Later checks find the compiled patterns in the
 * cache.
 */
export function* compilePatterns(schema: JsonSchemaProps): Generator<void> {
  const patterns = new Set<string>();
  schemaHas(schema, ({ pattern = "" }) => {
    patterns.add(pattern);
    return false;
  });
  let size = patternSliceMax;
  for (const pattern of patterns) {
    size += patternSize(pattern);
    if (size >= patternSliceMax) yield;
    size %= patternSliceMax;
    patternError(pattern);
  }
}

function isLarge(schemas: readonly JsonSchemaProps[]): boolean {
  let count = 0;
  const exceedsLimit = ({ "x-kubernetes-validations": rules = [] }: JsonSchemaProps): boolean => {
    count += 1 + rules.length;
    return count > smallMax;
  };
  return schemas.some((schema) => schemaHas(schema, exceedsLimit));
}
