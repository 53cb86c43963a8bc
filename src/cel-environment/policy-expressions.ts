/**
 * Expressions of admission policies and webhooks: their variables, and their evaluation within a budget.
 * Source: k8s.io/apiserver pkg/admission/plugin/cel (compile.go, composition.go, activation.go)
 */
import {
  type Activation,
  authorizerType,
  type CelAuthorizer,
  CelError,
  CelFailure,
  CelObject,
  type CelType,
  type CelValue,
  dynType,
  type Environment,
  failedValue,
  type JsonValue,
  jsonPatchKeys,
  jsonValue,
  listType,
  mapType,
  objectType,
  resourceCheckType,
  type TypeResolver,
} from "../lib/cel/index.ts";
import { type DeclType, typeRegistry, unescapeName } from "../lib/cel/schema-types/index.ts";
import { type Compiled, compileExpression, issuesOf } from "./compile-expression.ts";
import { admissionRequestDecl, namespaceDecl } from "./declared-types.ts";
import { perCallLimit } from "./limits.ts";
import { mutationTypes } from "./mutation-types.ts";

/** Which variables there are besides `object`, `oldObject`, `request` and `namespaceObject`. */
export interface PolicyVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  /** Whether expressions may make `Object{…}` and `JSONPatch{…}`. */
  readonly hasPatchTypes: boolean;
  /** Of `object` and `oldObject`, to check an expression against a kind; dynamic when left out. */
  readonly objectType?: DeclType;
  readonly paramsType?: DeclType;
}

export interface NamedExpression {
  readonly name: string;
  readonly expression: string;
}

const variablesTypeName = "kubernetes.variables";

/** Compiles the expressions of one policy. Its variables come first: each sees those before it, and expressions see all. */
export class PolicyCompiler {
  readonly #environment: Environment;
  readonly #variables = new Map<string, Compiled>();
  readonly #types = new Map<string, CelType>();

  /** @param base new or stored expressions' environment */
  constructor(base: Environment, variables: PolicyVariables) {
    this.#environment = policyEnvironment(base, variables).extend({
      types: this.#variableTypes(),
      variables: [{ name: "variables", type: objectType(variablesTypeName) }],
    });
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
  const typed = (decl: DeclType | undefined, name: string): CelType => (decl === undefined ? dynType : types.typeOf(decl, name));
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
  if (type.kind === "map" && first !== undefined && second !== undefined) return mapType(variableType(first), variableType(second));
  return type.kind === "object" || type.kind === "opaque" || type.kind === "type" || type.kind === "wrapper" ? dynType : type;
}

/** What expressions look at, as plain JSON. */
export interface PolicyBindings {
  /** Null when it is deleted. */
  readonly object: JsonValue;
  /** Null when it is new. */
  readonly oldObject: JsonValue;
  readonly request: JsonValue;
  /** Null of what is in no namespace. */
  readonly namespaceObject: JsonValue;
  readonly params?: JsonValue;
  readonly authorizer?: { readonly authorizer: CelAuthorizer; readonly requestResource: CelAuthorizer };
  readonly isInterrupted?: () => boolean;
}

/** The budget did not suffice. */
export class OutOfBudget extends Error {
  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
    this.name = "OutOfBudget";
  }
}

export type PolicyResult = { readonly value: CelValue; readonly error?: undefined } | { readonly error: string; readonly value?: undefined };

/** Evaluates expressions for one request. A variable is evaluated when it is first looked at, once, and charged then. */
export class PolicyEvaluator {
  /** Units that are left. */
  budget: number;
  readonly #activation: Activation;
  readonly #variables: VariableValues;
  readonly #isInterrupted: (() => boolean) | undefined;

  constructor(bindings: PolicyBindings, variables: ReadonlyMap<string, Compiled>, budget: number) {
    this.budget = budget;
    this.#isInterrupted = bindings.isInterrupted;
    const values = valuesOf(bindings);
    this.#variables = new VariableValues(variables, { get: (name) => this.#activation.get(name) }, bindings.isInterrupted);
    this.#activation = { get: (name) => (name === "variables" ? this.#variables : values.get(name)) };
  }

  /** @returns `error` in upstream's words @throws OutOfBudget */
  evaluate(compiled: Compiled): PolicyResult {
    if (compiled.program === undefined) return { error: `compilation error: ${compiled.error}` };
    try {
      const { value, cost } = compiled.program.evaluate(this.#activation, { costLimit: perCallLimit, isInterrupted: this.#isInterrupted });
      this.#spend(cost);
      return { value };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#spend(error.cost);
      return { error: `expression '${compiled.text}' resulted in error: ${error.message}` };
    }
  }

  #spend(cost: number): void {
    this.budget -= cost + this.#variables.takeCost();
    if (this.budget < 0) throw new OutOfBudget();
  }
}

/** Made when they are asked for. */
function valuesOf(bindings: PolicyBindings): Activation {
  const values = new Map<string, CelValue>();
  const json = (name: string, value: JsonValue | undefined): CelValue => {
    const made = values.get(name) ?? jsonValue(value ?? null);
    values.set(name, made);
    return made;
  };
  const get = (name: string): CelValue | undefined => {
    switch (name) {
      case "object":
      case "oldObject":
      case "request":
      case "namespaceObject":
      case "params":
        return json(name, bindings[name]);
      case "authorizer":
        return bindings.authorizer?.authorizer;
      case "authorizer.requestResource":
        return bindings.authorizer?.requestResource;
      default:
        return undefined;
    }
  };
  return { get };
}

/** `variables`. */
class VariableValues extends CelObject {
  readonly typeName = variablesTypeName;
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #activation: Activation;
  readonly #isInterrupted: (() => boolean) | undefined;
  readonly #values = new Map<string, CelValue>();
  #cost = 0;

  constructor(compiled: ReadonlyMap<string, Compiled>, activation: Activation, isInterrupted: (() => boolean) | undefined) {
    super();
    this.#compiled = compiled;
    this.#activation = activation;
    this.#isInterrupted = isInterrupted;
  }

  /** Units since it was last asked. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  field(written: string): CelValue | undefined {
    const name = unescapeName(written) ?? written;
    const before = this.#values.get(name);
    const compiled = this.#compiled.get(name);
    if (before !== undefined || compiled === undefined) return before;
    const value = this.#evaluate(name, compiled);
    this.#values.set(name, value);
    return value;
  }

  #evaluate(name: string, compiled: Compiled): CelValue {
    if (compiled.program === undefined) return failedValue(`composited variable ${JSON.stringify(name)} fails to compile: ${compiled.error}`);
    try {
      const { value, cost } = compiled.program.evaluate(this.#activation, { costLimit: perCallLimit, isInterrupted: this.#isInterrupted });
      this.#cost += cost;
      return value;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#cost += error.cost;
      return failedValue(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
    }
  }

  has(name: string): boolean | CelFailure {
    const value: unknown = this.field(name);
    return value instanceof CelFailure ? value : value !== undefined;
  }

  equals(other: CelObject): boolean {
    return other === this;
  }
}
