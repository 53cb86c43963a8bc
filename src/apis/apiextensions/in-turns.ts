/** Work on a definition may be long; others have their turns between its parts where it is. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { type JsonSchemaProps, schemaHas } from "../../lib/structural-schema/json-schema-props.ts";
import { patternSize } from "../../lib/structural-schema/validate/pattern-size.ts";
import { patternError } from "../../lib/structural-schema/validate/value-schema.ts";

/** Schemas within schemas, and rules, that are gone through in some milliseconds. */
const quickMax = 1000;

/** @param steps yield where others may have their turn @returns a promise only where the schemas are large */
export function inTurns(steps: Iterator<void>, schemas: readonly JsonSchemaProps[]): void | Promise<void> {
  if (isLarge(schemas)) return takeTurns(steps);
  while (!steps.next().done);
}

/** Instructions of patterns that are made within some tens of milliseconds as a rule. */
const patternStepMax = 5000;

/** Makes all patterns of a schema, some at a time: whoever asks for them next finds what is wrong with them at once. */
export function* patternSteps(schema: JsonSchemaProps): Generator<void> {
  const patterns = new Set<string>();
  schemaHas(schema, ({ pattern = "" }) => {
    patterns.add(pattern);
    return false;
  });
  let size = patternStepMax;
  for (const pattern of patterns) {
    size += patternSize(pattern);
    if (size >= patternStepMax) yield;
    size %= patternStepMax;
    patternError(pattern);
  }
}

async function takeTurns(steps: Iterator<void>): Promise<void> {
  while (!steps.next().done) await nextTurn();
}

function isLarge(schemas: readonly JsonSchemaProps[]): boolean {
  let count = 0;
  const isOneTooMany = ({ "x-kubernetes-validations": rules = [] }: JsonSchemaProps): boolean => {
    count += 1 + rules.length;
    return count > quickMax;
  };
  return schemas.some((schema) => schemaHas(schema, isOneTooMany));
}
