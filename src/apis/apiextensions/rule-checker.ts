/**
 * Compiles and evaluates the rules of `x-kubernetes-validations`. Without an implementation, rules
 * are validated as data only.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";

/** Compiles the rules of definitions. */
export interface RuleChecker {
  /**
   * Compiles all rules of a version's schema in steps.
   *
   * @param schema structural
   * @param errors contains the other errors of this schema; rules at these paths and above them are
   *   not compiled
   */
  ruleSteps(schema: JsonSchemaProps, path: string, errors: FieldErrors, options: RuleOptions): Iterable<void>;
  /**
   * Evaluates the rules for a default as for a new value.
   *
   * @param schema of the default; its rules and those below apply
   */
  checkDefault(value: unknown, schema: JsonSchemaProps, path: string, errors: FieldErrors): void;
}

interface RuleOptions {
  /** Expressions of the stored definition, which may use libraries that new expressions may not. */
  readonly stored: StoredExpressions;
  /**
   * Whether the schema is stored already, so that the cost limit of single rules does not apply.
   */
  readonly isUnchanged: boolean;
}

/** The expressions of a stored definition. */
export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messageExpressions: ReadonlySet<string>;
}

/** Compiles the rules of a version for the validation of objects. */
export interface ObjectRules {
  /** @returns undefined for a schema without rules */
  compile(schema: JsonSchemaProps): CheckObject | undefined;
}

/**
 * Evaluates the rules for an object.
 *
 * @param old the stored object, whose violations are tolerated in unchanged parts; undefined for a
 *   new object
 * @param warn receives the messages of tolerated violations
 */
export type CheckObject = (object: unknown, old: unknown, errors: FieldErrors, warn: (text: string) => void) => void;
