/**
 * Where rules of `x-kubernetes-validations` get compiled. Who knows expressions gives an implementation; without one, rules are looked at as
 * data alone.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";

export interface RuleChecker {
  /**
   * Compiles all rules of a version's schema, which is structural, some at a time.
   * @param errors what is wrong with this schema otherwise; rules at and above such places are left out
   */
  ruleSteps(schema: JsonSchemaProps, path: string, errors: FieldErrors, options: RuleOptions): Iterable<void>;
  /** A default is a new value, and has to keep the rules at and below its place. @param schema of that place */
  checkDefault(value: unknown, schema: JsonSchemaProps, path: string, errors: FieldErrors): void;
}

export interface RuleOptions {
  /** Expressions of the stored definition: they may use what an older release let them use. */
  readonly stored: StoredExpressions;
  /** Costs of single rules are not held against a schema that is stored already. */
  readonly isUnchanged: boolean;
}

export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messageExpressions: ReadonlySet<string>;
}

/** Rules of objects: made once for a version. */
export interface ObjectRules {
  /** @returns undefined where the schema has none */
  compile(schema: JsonSchemaProps): CheckObject | undefined;
}

/**
 * @param old as it is stored: what has not changed may stay as it is; undefined when the object is new
 * @param warn is told what would be an error, had it not been there before
 */
export type CheckObject = (object: unknown, old: unknown, errors: FieldErrors, warn: (text: string) => void) => void;
