/**
 * Expressions of authentication and authorization configuration. Source: k8s.io/apiserver pkg/authentication/cel and pkg/authorization/cel
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

/** Expressions over one variable. */
export interface IdentityExpressions {
  /** @param returns see `compileExpression` */
  compile(text: string, returns?: readonly CelType[]): Compiled;
  /** @returns `error` in upstream's words, such as `expression 'x' resulted in error: …` */
  evaluate(compiled: Compiled, value: JsonValue): IdentityResult;
}

export type IdentityResult =
  | { readonly value: CelValue; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined };

interface Ways {
  /** Authentication says which type is wanted, and not which it got. */
  readonly compile?: typeof compileExpression;
  readonly toValue?: (value: JsonValue) => CelValue;
}

function expressionsOver(
  name: string,
  decl: DeclType,
  { compile = compileExpression, toValue = jsonValue }: Ways = {},
): () => IdentityExpressions {
  let made: IdentityExpressions | undefined;
  return () => {
    made ??= {
      compile: (text, returns) => compile(environment(), text, returns),
      evaluate: (compiled, value) => evaluate(compiled, name, toValue(value)),
    };
    return made;
  };
  function environment(): Environment {
    const types = typeRegistry();
    return storedExpressions().extend({ types, variables: [{ name, type: types.typeOf(decl, "") }] });
  }
}

/** Over `claims`: a map from the names of claims to their values. */
export const claimsExpressions = expressionsOver("claims", claimsDecl, {
  compile: compileTersely,
  toValue: (claims) => claimsValue(claims as { readonly [name: string]: JsonValue }),
});

/** Over `user`: `username`, `uid`, `groups` and `extra`. */
export const userExpressions = expressionsOver("user", userInfoDecl, { compile: compileTersely });

/** Over `request`: the spec of a SubjectAccessReview, which `reviewValue` makes. */
export const reviewExpressions = expressionsOver("request", subjectAccessReviewDecl);

function compileTersely(environment: Environment, text: string, returns?: readonly CelType[]): Compiled {
  const compiled = compileExpression(environment, text, returns);
  if (compiled.error?.startsWith("must evaluate to ") !== true) return compiled;
  return { text, error: compiled.error.replace(/ but got .*$/, "") };
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

/** As authorization has it: plain JSON of `authorization.k8s.io/v1`. */
export interface ReviewSpec {
  readonly user?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
  readonly resourceAttributes?: ResourceAttributes;
  readonly nonResourceAttributes?: { readonly path?: string; readonly verb?: string };
}

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

export interface SelectorAttributes {
  readonly rawSelector?: string;
  readonly requirements?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** What `request` is: texts, groups and extras are there though they are empty, selectors only when they say something. */
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

/** One that was not parsed stands alone. */
function selectorValue({ rawSelector = "", requirements = [] }: SelectorAttributes = {}): JsonValue | undefined {
  if (rawSelector !== "") return { rawSelector };
  if (requirements.length === 0) return undefined;
  return { requirements: requirements.map(({ key, operator, values = [] }) => ({ key, operator, values })) };
}
