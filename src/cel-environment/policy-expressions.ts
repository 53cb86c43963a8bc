/**
 * Expressions of admission policies and webhooks, compiled with the variables they have.
 * Source: k8s.io/apiserver pkg/admission/plugin/cel (compile.go, composition.go)
 */
import {
  authorizerType,
  type CelType,
  dynType,
  type Environment,
  failedValue,
  jsonPatchKeys,
  listType,
  mapType,
  objectType,
  resourceCheckType,
  type TypeResolver,
} from "../lib/cel/index.ts";
import { type DeclType, typeRegistry } from "../lib/cel/schema-types/index.ts";
import { type Compiled, compileExpression, issuesOf } from "./compile-expression.ts";
import { admissionRequestDecl, namespaceDecl } from "./declared-types.ts";
import { mutationTypes } from "./mutation-types.ts";
import { type PolicyBindings, PolicyEvaluator, variablesTypeName } from "./policy-evaluator.ts";

/** Which variables there are besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface PolicyVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether expressions may make `Object{…}` and `JSONPatch{…}`. */
  readonly hasPatchTypes: boolean;
  /** False where there is no `variables`; there is one, be it empty, unless told so. */
  readonly hasVariables?: boolean;
  /** Of `object` and `oldObject`, to check an expression against a kind; dynamic when left out. */
  readonly objectType?: DeclType;
  readonly paramsType?: DeclType;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

/** Compiles the expressions of one policy. Its variables come first: each sees those before it, and expressions see all. */
export class PolicyCompiler {
  readonly #environment: Environment;
  readonly #variables = new Map<string, Compiled>();
  readonly #types = new Map<string, CelType>();

  /** @param base new or stored expressions' environment */
  constructor(base: Environment, variables: PolicyVariables) {
    const environment = policyEnvironment(base, variables);
    const composed = {
      types: this.#variableTypes(),
      variables: [{ name: "variables", type: objectType(variablesTypeName) }],
    };
    this.#environment = variables.hasVariables === false ? environment : environment.extend(composed);
  }

  /** In the order in which the policy names them. Whether it compiled is in what is returned; those that use it fail then. */
  addVariable({ name, expression }: NamedExpression): Compiled {
    const compiled = compileExpression(this.#environment, expression);
    this.#types.set(name, compiled.checked === undefined ? dynType : variableType(compiled.checked.type));
    this.#variables.set(name, compiled);
    return compiled;
  }

  /** @param returns see `compileExpression` */
  compile(expression: string, returns: readonly CelType[] = []): Compiled {
    return compileExpression(this.#environment, expression, returns);
  }

  /** What is wrong with its types: for warnings about a policy, which do not keep it from being stored. */
  typeIssues(expression: string): string | undefined {
    return issuesOf(this.#environment, expression);
  }

  /** Begins the evaluations for one request. @param budget units for all of them */
  evaluator(bindings: PolicyBindings, budget: number): PolicyEvaluator {
    return new PolicyEvaluator(bindings, this.#variables, budget);
  }

  #variableTypes(): TypeResolver {
    return {
      hasType: (name) => name === variablesTypeName,
      isNameable: (name) => name === variablesTypeName,
      fieldType: (_typeName, field) => this.#types.get(field),
      create: (typeName) => failedValue(`unknown type '${typeName}'`),
    };
  }
}

function policyEnvironment(base: Environment, given: PolicyVariables): Environment {
  const types = typeRegistry();
  const typed = (decl: DeclType | undefined, name: string): CelType =>
    decl === undefined ? dynType : types.typeOf(decl, name);
  const object = typed(given.objectType, "objectType");
  const variables = [
    { name: "object", type: object },
    { name: "oldObject", type: object },
    { name: "namespaceObject", type: types.typeOf(namespaceDecl, "") },
    { name: "request", type: types.typeOf(admissionRequestDecl, "") },
    ...(given.hasParams ? [{ name: "params", type: typed(given.paramsType, "paramsType") }] : []),
    ...(given.hasAuthorizer ? authorizerVariables : []),
  ];
  const environment = base.extend({ types, variables });
  return given.hasPatchTypes ? environment.extend({ types: mutationTypes }, jsonPatchKeys) : environment;
}

const authorizerVariables = [
  { name: "authorizer", type: authorizerType },
  { name: "authorizer.requestResource", type: resourceCheckType },
];

/** Scalars, and lists and maps of them, keep their type; what else there is does not say. */
function variableType(type: CelType): CelType {
  const [first, second] = type.parameters;
  if (type.kind === "list" && first !== undefined) return listType(variableType(first));
  if (type.kind === "map" && first !== undefined && second !== undefined)
    return mapType(variableType(first), variableType(second));
  return type.kind === "object" || type.kind === "opaque" || type.kind === "type" || type.kind === "wrapper"
    ? dynType
    : type;
}
