/**
 * Evaluates the expressions of a policy for one request, with a cost budget.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/cel/activation.go and composition.go
 */
import {
  type Activation,
  type CelAuthorizer,
  CelError,
  CelFailure,
  CelMap,
  CelObject,
  type CelValue,
  type EvaluationOptions,
  failedValue,
  type JsonValue,
  jsonValue,
} from "../lib/cel/index.ts";
import { unescapeName } from "../lib/cel/schema-types/index.ts";
import { quoteGo } from "../lib/json/quote.ts";
import type { Compiled } from "./compile-expression.ts";
import { perCallLimit } from "./limits.ts";
import { TimeLimit } from "./time-limit.ts";

/** The type of `variables`. */
export const variablesTypeName = "kubernetes.variables";

/** The values of the variables for one request, as plain JSON; objects can be values already. */
export interface PolicyBindings {
  /** Null for DELETE. */
  readonly object: JsonValue | CelMap;
  /** Null for CREATE. */
  readonly oldObject: JsonValue | CelMap;
  readonly request: JsonValue;
  /** Null for cluster-scoped objects. */
  readonly namespaceObject: JsonValue;
  readonly params?: JsonValue;
  readonly authorizer?: { readonly authorizer: CelAuthorizer; readonly requestResource: CelAuthorizer } | undefined;
}

/** The expressions of a request exceeded the budget. */
export class OutOfBudget extends Error {
  constructor() {
    super("validation failed due to running out of cost budget, no further validation rules will be run");
    this.name = "OutOfBudget";
  }
}

/** The value of an expression, or the error. */
type PolicyResult =
  | { readonly value: CelValue; readonly error?: undefined }
  | { readonly error: string; readonly value?: undefined };

/**
 * Evaluates expressions for one request. A variable is evaluated, and charged, at its first use.
 */
export class PolicyEvaluator {
  /** Remaining units. */
  budget: number;
  readonly #activation: PolicyActivation;
  readonly #limit: TimeLimit;
  readonly #options: EvaluationOptions;

  /** @param limit its time limit applies to each expression with the variables that it reads */
  constructor(
    bindings: PolicyBindings,
    variables: ReadonlyMap<string, Compiled>,
    budget: number,
    limit = new TimeLimit(),
  ) {
    this.budget = budget;
    this.#limit = limit;
    this.#options = { costLimit: perCallLimit, isInterrupted: limit.isExceeded };
    this.#activation = new PolicyActivation(bindings, variables, this.#options, this);
  }

  /** @throws OutOfBudget if the expression exceeds the budget */
  evaluate(compiled: Compiled): PolicyResult {
    if (compiled.program === undefined) return { error: `compilation error: ${compiled.error}` };
    this.#limit.restart();
    try {
      const { value, cost } = compiled.program.evaluate(this.#activation, this.#options);
      this.#spend(cost);
      return { value };
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#spend(error.cost);
      return { error: `expression '${compiled.text}' resulted in error: ${error.message}` };
    }
  }

  #spend(cost: number): void {
    this.budget -= cost + this.#activation.takeCost();
    if (this.budget < 0) throw new OutOfBudget();
  }
}

/** What was left before the current expression. */
interface Budget {
  readonly budget: number;
}

/** Wraps values when they are first used. */
class PolicyActivation implements Activation {
  readonly #bindings: PolicyBindings;
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #options: EvaluationOptions;
  readonly #budget: Budget;
  #variables: VariableValues | undefined;
  #object: CelValue | undefined;
  #oldObject: CelValue | undefined;
  #request: CelValue | undefined;
  #namespaceObject: CelValue | undefined;
  #params: CelValue | undefined;

  constructor(
    bindings: PolicyBindings,
    compiled: ReadonlyMap<string, Compiled>,
    options: EvaluationOptions,
    budget: Budget,
  ) {
    this.#bindings = bindings;
    this.#compiled = compiled;
    this.#options = options;
    this.#budget = budget;
  }

  get(name: string): CelValue | undefined {
    const bindings = this.#bindings;
    switch (name) {
      case "object":
        this.#object ??= celValue(bindings.object);
        return this.#object;
      case "oldObject":
        this.#oldObject ??= celValue(bindings.oldObject);
        return this.#oldObject;
      case "request":
        this.#request ??= celValue(bindings.request);
        return this.#request;
      case "namespaceObject":
        this.#namespaceObject ??= celValue(bindings.namespaceObject);
        return this.#namespaceObject;
      case "params":
        this.#params ??= celValue(bindings.params);
        return this.#params;
      case "variables":
        this.#variables ??= new VariableValues(this.#compiled, this, this.#options, this.#budget);
        return this.#variables;
      case "authorizer":
        return bindings.authorizer?.authorizer;
      case "authorizer.requestResource":
        return bindings.authorizer?.requestResource;
      default:
        return undefined;
    }
  }

  /** Returns the units that variables have spent since the last call. */
  takeCost(): number {
    return this.#variables?.takeCost() ?? 0;
  }
}

function celValue(value: JsonValue | CelMap | undefined): CelValue {
  return value instanceof CelMap ? value : jsonValue(value ?? null);
}

/** The value of `variables`. */
class VariableValues extends CelObject {
  readonly typeName = variablesTypeName;
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #activation: Activation;
  readonly #options: EvaluationOptions;
  readonly #budget: Budget;
  readonly #values = new Map<string, CelValue>();
  #cost = 0;

  constructor(
    compiled: ReadonlyMap<string, Compiled>,
    activation: Activation,
    options: EvaluationOptions,
    budget: Budget,
  ) {
    super();
    this.#compiled = compiled;
    this.#activation = activation;
    this.#options = options;
    this.#budget = budget;
  }

  /** Returns the units spent since the last call. */
  takeCost(): number {
    const cost = this.#cost;
    this.#cost = 0;
    return cost;
  }

  field(escaped: string): CelValue | undefined {
    const name = unescapeName(escaped) ?? escaped;
    const before = this.#values.get(name);
    const compiled = this.#compiled.get(name);
    if (before !== undefined || compiled === undefined) return before;
    const value = this.#evaluate(name, compiled);
    this.#values.set(name, value);
    return value;
  }

  #evaluate(name: string, compiled: Compiled): CelValue {
    if (compiled.program === undefined)
      return failedValue(`composited variable ${quoteGo(name)} fails to compile: ${compiled.error}`);
    try {
      const { value, cost } = compiled.program.evaluate(this.#activation, this.#options);
      this.#spend(cost);
      return value;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      this.#spend(error.cost);
      return failedValue(`composited variable ${quoteGo(name)} fails to evaluate: ${error.message}`);
    }
  }

  /** Variables that exceed the budget end the expression, which would exceed it, too. */
  #spend(cost: number): void {
    this.#cost += cost;
    if (this.#cost > this.#budget.budget) throw new OutOfBudget();
  }

  has(name: string): boolean | CelFailure {
    const value: unknown = this.field(name);
    return value instanceof CelFailure ? value : value !== undefined;
  }

  equals(other: CelObject): boolean {
    return other === this;
  }
}
