/**
 * Expressions of authentication and authorization configuration.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/cel and pkg/authorization/cel
 */
import {
  CelError,
  type CelType,
  type CelValue,
  type Environment,
  type JsonValue,
  jsonValue,
} from "../lib/cel/index.ts";
import { type DeclType, typeRegistry } from "../lib/cel/schema-types/index.ts";
import { claimsValue } from "./claims-value.ts";
import { type Compiled, compileExpression } from "./compile-expression.ts";
import { claimsDecl, subjectAccessReviewDecl, userInfoDecl } from "./declared-types.ts";
import { storedExpressions } from "./environments.ts";
import { perCallLimit } from "./limits.ts";

/** Compiles and evaluates expressions with one variable. */
export interface IdentityExpressions {
  /** Compiles an expression. @param returns see `compileExpression` */
  compile(text: string, returns?: readonly CelType[]): Compiled;
  /**
   * Evaluates an expression.
   *
   * @param value of the variable
   * @returns an `error` such as `expression 'x' resulted in error: …`
   */
  evaluate(compiled: Compiled, value: JsonValue): IdentityResult;
}

/** The value of an expression, or the error. */
export type IdentityResult =
  | { readonly value: CelValue; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined };

interface ExpressionOptions {
  readonly compile?: typeof compileExpression;
  readonly toValue?: (value: JsonValue) => CelValue;
}

function expressionsOver(
  name: string,
  decl: DeclType,
  { compile = compileExpression, toValue = jsonValue }: ExpressionOptions = {},
): () => IdentityExpressions {
  let expressions: IdentityExpressions | undefined;
  return () => {
    expressions ??= {
      compile: (text, returns) => compile(environment(), text, returns),
      evaluate: (compiled, value) => evaluate(compiled, name, toValue(value)),
    };
    return expressions;
  };
  function environment(): Environment {
    const types = typeRegistry();
    return storedExpressions().extend({ types, variables: [{ name, type: types.typeOf(decl, "") }] });
  }
}

/** Expressions with `claims`: a map from claim names to values. */
export const claimsExpressions = expressionsOver("claims", claimsDecl, {
  compile: compileWithShortErrors,
  toValue: (claims) => claimsValue(claims as { readonly [name: string]: JsonValue }),
});

/** Expressions with `user`: `username`, `uid`, `groups` and `extra`. */
export const userExpressions = expressionsOver("user", userInfoDecl, { compile: compileWithShortErrors });

/** Expressions with `request`: the spec of a SubjectAccessReview, converted by `reviewValue`. */
export const reviewExpressions = expressionsOver("request", subjectAccessReviewDecl);

/** In errors of authentication configuration, the actual type is missing. */
function compileWithShortErrors(environment: Environment, text: string, returns?: readonly CelType[]): Compiled {
  const compiled = compileExpression(environment, text, returns);
  if (compiled.error?.startsWith("must evaluate to ") !== true) return compiled;
  const [error = ""] = compiled.error.split(" but got ", 1);
  return { text, error };
}

function evaluate(compiled: Compiled, name: string, value: CelValue): IdentityResult {
  if (compiled.program === undefined) return { error: compiled.error };
  try {
    return { value: compiled.program.evaluate(new Map([[name, value]]), { costLimit: perCallLimit }).value };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { error: `expression '${compiled.text}' resulted in error: ${error.message}` };
  }
}

/** A SubjectAccessReviewSpec of `authorization.k8s.io/v1` as JSON. */
export interface ReviewSpec {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

/** The resource attributes of a SubjectAccessReviewSpec. */
export interface ResourceAttributes {
  readonly namespace?: string;
  readonly verb?: string;
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly fieldSelector?: SelectorAttributes;
  readonly labelSelector?: SelectorAttributes;
}

/** A field or label selector of a SubjectAccessReviewSpec. */
export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/**
 * Returns the value of `request`. Empty texts, groups and extra are included; empty selectors are
 * not.
 */
export function reviewValue(spec: ReviewSpec): JsonValue {
  const { user = "", uid = "", groups = [], extra = {}, resourceAttributes, nonResourceAttributes } = spec;
  return {
    user,
    uid,
    groups,
    extra,
    ...(resourceAttributes && { resourceAttributes: attributesValue(resourceAttributes) }),
    ...(nonResourceAttributes && {
      nonResourceAttributes: { verb: nonResourceAttributes.verb ?? "", path: nonResourceAttributes.path ?? "" },
    }),
  };
}

function attributesValue(attributes: ResourceAttributes): JsonValue {
  const {
    namespace = "",
    verb = "",
    group = "",
    version = "",
    resource = "",
    subresource = "",
    name = "",
  } = attributes;
  const fieldSelector = selectorValue(attributes.fieldSelector);
  const labelSelector = selectorValue(attributes.labelSelector);
  const texts = { namespace, verb, group, version, resource, subresource, name };
  return { ...texts, ...(fieldSelector && { fieldSelector }), ...(labelSelector && { labelSelector }) };
}

/** A raw selector excludes requirements. */
function selectorValue({ rawSelector = "", requirements = [] }: SelectorAttributes = {}): JsonValue | undefined {
  if (rawSelector !== "") return { rawSelector };
  if (requirements.length === 0) return undefined;
  return { requirements: requirements.map(({ key, operator, values = [] }) => ({ key, operator, values })) };
}
