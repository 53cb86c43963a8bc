/**
 * Where rules of `x-kubernetes-validations` get compiled. Who knows expressions gives an implementation; without one, rules are looked at as
 * data alone.
 */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";

export interface RuleChecker {
  /**
   * Starts on the schema of a version, which keeps all other rules of structure.
   * @param options.isUnchanged costs of single rules are not held against a schema that is stored already
   * @param options.stored expressions that are stored already: they may use what an older release let them use
   */
  begin(schema: JsonSchemaProps, options: { readonly isUnchanged: boolean; readonly stored: StoredExpressions }): RuleContext;
  /** A default is a new value, and has to keep the rules at and below its place. */
  checkDefault(
    value: unknown,
    schema: JsonSchemaProps,
    options: { readonly isResourceRoot: boolean; readonly path: string },
    errors: FieldErrors,
  ): void;
}

/** A place in a schema. Places are visited parents first, but asked for their rules after what is below them. */
export interface RuleContext {
  property(schema: JsonSchemaProps, name: string): RuleContext;
  items(schema: JsonSchemaProps): RuleContext;
  /** Of `additionalProperties`. */
  values(schema: JsonSchemaProps): RuleContext;
  /**
   * Compiles the rules of this place; there are some, and nothing else is wrong with the schema here or below.
   * @param options.uncorrelatable where the nearest list or map stands whose elements have no identity: `oldSelf` cannot be used below
   */
  check(path: string, options: { readonly uncorrelatable: string | undefined }, errors: FieldErrors): void;
  /** Asked of the first context, when the whole schema was visited: what all rules together may cost. */
  end(path: string, errors: FieldErrors): void;
}

export interface StoredExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messageExpressions: ReadonlySet<string>;
}
