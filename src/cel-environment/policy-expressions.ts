/**
 * Compiles expressions of admission policies and webhook configurations.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/compile.go and composition.go
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

/** The variables in addition to `object`, `oldObject`, `request` and `namespaceObject`. */
interface PolicyVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether there is `authorizer.requestResource`, too. Default: true. */
  readonly hasRequestResource?: boolean;
  /** Whether expressions can create `Object{…}` and `JSONPatch{…}`. */
  readonly hasPatchTypes: boolean;
  /** Whether there is `variables`, which can be empty. Default: true. */
  readonly hasVariables?: boolean;
  /** The type of `object` and `oldObject`, to check an expression against a kind. Default: dyn. */
  readonly objectType?: DeclType;
  /** The type of `params`. Default: dyn. */
  readonly paramsType?: DeclType;
}

interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

/**
 * Compiles the expressions of one policy. Add its variables first: each can use those before it,
 * and expressions can use all.
 */
export class PolicyCompiler {
  readonly #base: Environment;
  readonly #options: PolicyVariables;
  readonly #environment: Environment;
  readonly #composition: Composition;

  /**
   * @param base for new or for stored expressions: see `environments.ts`
   * @param composition the variables of another compiler
   */
  constructor(base: Environment, options: PolicyVariables, composition: Composition = newComposition()) {
    this.#base = base;
    this.#options = options;
    this.#composition = composition;
    const environment = policyEnvironment(base, options);
    const composed = {
      types: variableTypes(composition),
      variables: [{ name: "variables", type: objectType(variablesTypeName) }],
    };
    this.#environment = options.hasVariables === false ? environment : environment.extend(composed);
  }

  /**
   * Returns a compiler of expressions that can use the same `variables`, but other names: messages
   * cannot use `authorizer`, and only mutations can create `Object{…}`.
   */
  sharing(changes: Partial<PolicyVariables>): PolicyCompiler {
    return new PolicyCompiler(this.#base, { ...this.#options, ...changes }, this.#composition);
  }

  /**
   * Adds a variable, in the order of the policy. If it does not compile, the result has the error,
   * and expressions that use the variable fail.
   */
  addVariable({ name, expression }: NamedExpression): Compiled {
    const compiled = compileExpression(this.#environment, expression);
    const { types, compiled: variables } = this.#composition;
    types.set(name, compiled.checked === undefined ? dynType : variableType(compiled.checked.type));
    variables.set(name, compiled);
    return compiled;
  }

  /** Compiles an expression. @param returns see `compileExpression` */
  compile(expression: string, returns: readonly CelType[] = []): Compiled {
    return compileExpression(this.#environment, expression, returns);
  }

  /** Returns type errors for warnings about a policy, which do not reject it. */
  typeIssues(expression: string): string | undefined {
    return issuesOf(this.#environment, expression);
  }

  /** Creates the evaluator of one request. @param budget units for all evaluations */
  evaluator(bindings: PolicyBindings, budget: number): PolicyEvaluator {
    return new PolicyEvaluator(bindings, this.#composition.compiled, budget);
  }
}

/** The variables of a policy, with their types. */
interface Composition {
  readonly compiled: Map<string, Compiled>;
  readonly types: Map<string, CelType>;
}

function newComposition(): Composition {
  return { compiled: new Map(), types: new Map() };
}

function variableTypes({ types }: Composition): TypeResolver {
  return {
    hasType: (name) => name === variablesTypeName,
    isNameable: (name) => name === variablesTypeName,
    fieldType: (_typeName, field) => types.get(field),
    create: (typeName) => failedValue(`unknown type '${typeName}'`),
  };
}

function policyEnvironment(base: Environment, options: PolicyVariables): Environment {
  const types = typeRegistry();
  const typed = (decl: DeclType | undefined, name: string): CelType =>
    decl === undefined ? dynType : types.typeOf(decl, name);
  const object = typed(options.objectType, "objectType");
  const variables = [
    { name: "object", type: object },
    { name: "oldObject", type: object },
    { name: "namespaceObject", type: types.typeOf(namespaceDecl, "") },
    { name: "request", type: types.typeOf(admissionRequestDecl, "") },
    ...(options.hasParams ? [{ name: "params", type: typed(options.paramsType, "paramsType") }] : []),
    ...(options.hasAuthorizer ? [authorizerVariable] : []),
    ...(options.hasAuthorizer && options.hasRequestResource !== false ? [requestResourceVariable] : []),
  ];
  const environment = base.extend({ types, variables });
  return options.hasPatchTypes ? environment.extend({ types: mutationTypes }, jsonPatchKeys) : environment;
}

const authorizerVariable = { name: "authorizer", type: authorizerType };
const requestResourceVariable = { name: "authorizer.requestResource", type: resourceCheckType };

/** Scalars, and lists and maps of them, keep their type; other types become dyn. */
function variableType(type: CelType): CelType {
  const [first, second] = type.parameters;
  if (type.kind === "list" && first !== undefined) return listType(variableType(first));
  if (type.kind === "map" && first !== undefined && second !== undefined)
    return mapType(variableType(first), variableType(second));
  return type.kind === "object" || type.kind === "opaque" || type.kind === "type" || type.kind === "wrapper"
    ? dynType
    : type;
}
