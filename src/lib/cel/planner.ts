/**
 * Compiles expressions to closures. Costs follow cel-go's tracker: a name, and each field or index
 * after it, costs one unit; list, map and message literals have fixed costs; a call costs what its
 * overload declares; `&&`, `||` and `?:` are free. A name as a branch of `?:` costs no unit.
 * Source: cel-go, interpreter/planner.go and interpreter/runtimecost.go
 */
import {
  type Call,
  type Comprehension,
  type Expr,
  isBinding,
  type ListLiteral,
  type MapLiteral,
  type Select,
  type StructLiteral,
} from "./ast.ts";
import { planCall } from "./call.ts";
import type { CheckedAst } from "./checker.ts";
import { listCost, listStep, mapStep, structStep } from "./composites.ts";
import type { Features, TypeResolver } from "./declarations.ts";
import { CelSyntaxError } from "./errors.ts";
import { type FoldVariables, fold, growingList, growingListOf, quantifier, quantifierOf } from "./folds.ts";
import {
  type Bound,
  bareOf,
  constant,
  inOneChain,
  lazyLocal,
  linkOf,
  local,
  named,
  nameless,
  type Planned,
  selected,
  selectionUnits,
  variable,
} from "./planned.ts";
import { type Program, programOf, Run, type Step } from "./program.ts";
import { chainNone, hasField, isKey, isUnwrapped, noKey, selectIndex, selectOptional } from "./values/access.ts";
import { noHash } from "./values/containers.ts";
import { equal, isNumber } from "./values/equality.ts";
import { CelFailure, fail, noSuchOverload } from "./values/failure.ts";
import { compileRegex } from "./values/regex.ts";
import { CelList, CelOptional, CelTypeValue, type CelValue } from "./values/value.ts";

/** The parts of an environment that the planner needs. */
interface PlannerOptions {
  readonly features: Features;
  readonly types: TypeResolver;
  /** Adds positions to errors, for tools. It slows evaluation: one more closure per expression. */
  readonly locateFailures?: boolean;
}

/**
 * Compiles an expression.
 *
 * @throws CelSyntaxError for an invalid constant, such as `duration("x")`
 */
export function plan(checked: CheckedAst, options: PlannerOptions): Program {
  const planner = new Planner(checked, options);
  const { step } = planner.plan(checked.root);
  return programOf(checked.type, step, planner.slots, planner.offsets);
}

class Planner {
  /** The number of variables in all comprehensions. */
  slots = 0;
  /** Positions of failures. */
  readonly offsets = new WeakMap<CelFailure, number>();
  readonly #checked: CheckedAst;
  readonly #options: PlannerOptions;
  readonly #scopes: [name: string, slot: number, bound?: Bound][] = [];
  /** By the id of the expression: an expression that a macro uses twice is planned once. */
  readonly #planned = new Map<number, Planned>();

  constructor(checked: CheckedAst, options: PlannerOptions) {
    this.#checked = checked;
    this.#options = options;
  }

  plan(expr: Expr): Planned {
    const before = this.#planned.get(expr.id);
    if (before !== undefined) return before;
    const planned = this.#options.locateFailures === true ? this.#located(expr, this.#plan(expr)) : this.#plan(expr);
    this.#planned.set(expr.id, planned);
    return planned;
  }

  /** Records the position of the innermost expression that returns a failure. */
  #located(expr: Expr, planned: Planned): Planned {
    const locating =
      (step: Step): Step =>
      (run) => {
        const value = step(run);
        if (value instanceof CelFailure && !this.offsets.has(value)) this.offsets.set(value, expr.offset);
        return value;
      };
    const { step, bare, link } = planned;
    return { ...planned, step: locating(step), bare: bare && locating(bare), link: link && locating(link) };
  }

  #plan(expr: Expr): Planned {
    switch (expr.kind) {
      case "constant":
        return constant(expr.value);
      case "identifier":
        return this.#identifier(expr.id, expr.name);
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return this.#struct(expr);
      case "comprehension":
        return this.#comprehension(expr);
    }
  }

  #identifier(id: number, written: string): Planned {
    const [, slot, bound] = this.#scopes.findLast(([name]) => name === written) ?? [];
    if (slot !== undefined) return bound === undefined ? local(slot) : lazyLocal(slot, bound);
    const reference = this.#checked.references.get(id);
    const name = reference?.kind === "variable" ? reference.name : written;
    const value = reference?.kind === "variable" ? reference.value : undefined;
    if (value !== undefined) return value instanceof CelTypeValue ? constant(value) : named(() => value);
    const type = this.#checked.types.get(id);
    if (type?.kind !== "type") return variable(name);
    const [of] = type.parameters;
    if (of?.kind !== "object") return constant(new CelTypeValue(of?.name ?? name));
    const message = `reference to undefined type: ${name}`; // In cel-go, object types are not values.
    throw new CelSyntaxError(this.#checked.source, [{ offset: -1, message }], message);
  }

  #select(expr: Select): Planned {
    const reference = this.#checked.references.get(expr.id);
    if (reference?.kind === "variable") return this.#identifier(expr.id, reference.name);
    const planned = this.plan(expr.operand);
    const { field } = expr;
    if (expr.testOnly) return this.#presence(planned, field);
    const whole = selected(linkOf(planned), field, planned.link !== undefined);
    return planned.nameless === true ? nameless(whole) : whole;
  }

  #presence(of: Planned, field: string): Planned {
    const [operand, inChain] = [linkOf(of), of.link !== undefined];
    const { presenceTestCost } = this.#options.features;
    const units = of.nameless === true ? 2 * presenceTestCost : 1 + presenceTestCost; // cel-go subtracts a unit that it did not charge.
    return {
      step: (run) => {
        const value = operand(run);
        const present = value instanceof CelFailure ? value : hasField(value, field, inChain);
        const isUntested = value instanceof CelOptional && isUnwrapped(value, inChain) && present !== true;
        const isTested = !(value instanceof CelFailure || isUntested);
        run.charge(isTested ? units : units - 1);
        return present;
      },
    };
  }

  #call(expr: Call): Planned {
    switch (expr.name) {
      case "_&&_":
        return this.#logical(expr, false);
      case "_||_":
        return this.#logical(expr, true);
      case "_?_:_":
        return this.#conditional(expr);
      case "_[_]":
        return this.#index(expr, selectIndex);
      case "_[?_]":
      case "_?._":
        return this.#index(expr, selectOptional);
      case "@not_strictly_false":
        return this.#notStrictlyFalse(expr);
      case "@in":
        return this.#membership(expr) ?? this.#function(expr);
      case "or":
      case "orValue":
        return this.#optionalOr(expr) ?? this.#function(expr);
      default:
        return this.#function(expr);
    }
  }

  /** @param decisive the operand value that decides the result, even if the other operand failed */
  #logical(expr: Call, decisive: boolean): Planned {
    const [left, right] = expr.args.map((arg) => this.plan(arg).step) as [Step, Step];
    return {
      step: (run) => {
        const one = left(run);
        if (one === decisive) return decisive;
        const other = right(run);
        if (other === decisive) return decisive;
        if (typeof one === "boolean" && typeof other === "boolean") return !decisive;
        if (one instanceof CelFailure) return one;
        return other instanceof CelFailure ? other : noSuchOverload();
      },
    };
  }

  /** A failure counts as true, so that comprehensions continue. */
  #notStrictlyFalse(expr: Call): Planned {
    const operand = this.plan(expr.args[0] as Expr).step;
    return {
      step: (run) => {
        const value = operand(run);
        run.charge(1);
        return value !== false;
      },
    };
  }

  #conditional(expr: Call): Planned {
    const [condition, whenTrue, whenFalse] = expr.args.map((arg) => this.plan(arg)) as [Planned, Planned, Planned];
    const [test, yes, no] = [condition.step, bareOf(whenTrue), bareOf(whenFalse)];
    const step: Step = (run) => {
      const value = test(run);
      if (value === true) return yes(run);
      if (value === false) return no(run);
      return value instanceof CelFailure ? value : noSuchOverload();
    };
    return { step, bare: step, nameless: true };
  }

  #index(expr: Call, select: typeof selectIndex): Planned {
    const [container, key] = expr.args.map((arg) => this.plan(arg)) as [Planned, Planned];
    const [operand, index] = [linkOf(container), bareOf(key)];
    const inChain = container.link !== undefined;
    if (key.constant !== undefined && !isKey(key.constant.value)) this.#throwInvalid(expr, noKey(key.constant.value));
    const whole = inOneChain((run) => {
      const value = operand(run);
      if (value instanceof CelFailure) return value;
      if (value instanceof CelOptional && value.value === undefined && isUnwrapped(value, inChain)) return chainNone;
      const at = index(run);
      const result = at instanceof CelFailure ? at : select(value, at, inChain);
      run.charge(selectionUnits(value, result, { optional: select === selectOptional, inChain }));
      return result;
    });
    return container.nameless === true ? nameless(whole) : whole;
  }

  /** `in` with a list of constant scalars: a free lookup in a set, as in cel-go. */
  #membership(expr: Call): Planned | undefined {
    const [element, container] = expr.args.map((arg) => this.plan(arg)) as [Planned, Planned];
    const list = container.constant?.value;
    if (!this.#options.features.foldConstants || !(list instanceof CelList)) return undefined;
    if (list.size === 0) return constant(false);
    const strings = new Set<CelValue>();
    const others: CelValue[] = [];
    for (let at = 0; at < list.size; at++) {
      const item = list.at(at);
      if (typeof item === "string") strings.add(item);
      else if (typeof item === "boolean" || isNumber(item)) others.push(item);
      else return undefined;
    }
    return {
      step: (run) => {
        const value = element.step(run);
        if (value instanceof CelFailure) return value;
        if (value instanceof Uint8Array) return noHash(value);
        return typeof value === "string" ? strings.has(value) : others.some((other) => equal(value, other) === true);
      },
    };
  }

  /** `a.or(b)` and `a.orValue(b)`: `b` is evaluated only if `a` has no value. Both are free. */
  #optionalOr(expr: Call): Planned | undefined {
    const reference = this.#checked.references.get(expr.id);
    if (
      expr.target === undefined ||
      reference?.kind !== "call" ||
      !reference.overloads[0]?.id.startsWith("optional_or")
    )
      return undefined;
    const [left, right] = [this.plan(expr.target).step, this.plan(expr.args[0] as Expr).step];
    const unwrap = expr.name === "orValue";
    return {
      step: (run) => {
        const value = left(run);
        if (value instanceof CelFailure) return value;
        if (!(value instanceof CelOptional)) return value; // As in cel-go for a value that is not an optional.
        if (value.value !== undefined) return unwrap ? value.value : value;
        const other = right(run);
        return other; // As in cel-go, of any type.
      },
    };
  }

  #function(expr: Call): Planned {
    const reference = this.#checked.references.get(expr.id);
    const qualified = reference?.kind === "call" && reference.qualified;
    const exprs = expr.target === undefined || qualified ? expr.args : [expr.target, ...expr.args];
    const args = exprs.map((arg) => this.plan(arg));
    if (reference?.kind !== "call") return { step: () => fail(`unknown function: ${expr.name}`) };
    const step = planCall(
      reference.declaration,
      reference.overloads,
      args.map((arg) => arg.step),
      this.#hasCompiledPattern(expr, args[1]?.constant?.value),
    );
    const folds =
      this.#options.features.foldConstants &&
      conversions.has(expr.name) &&
      args.length === 1 &&
      args[0]?.constant !== undefined;
    return folds ? this.#fold(expr, step) : { step };
  }

  /**
   * Validates a constant regular expression. The call is then planned in another way, with other
   * costs after a failed argument. Source: cel-go, OptimizeRegex
   */
  #hasCompiledPattern(expr: Call, pattern: CelValue | undefined): boolean {
    if (!this.#options.features.foldConstants || !patternFunctions.has(expr.name) || typeof pattern !== "string")
      return false;
    const compiled = compileRegex(pattern);
    if (compiled instanceof CelFailure) this.#throwInvalid(expr, compiled);
    return true;
  }

  /** Evaluates a conversion of a constant now; at run time it is free. */
  #fold(expr: Expr, step: Step): Planned {
    const value = step(new Run(new Map(), 0, {}));
    return value instanceof CelFailure ? this.#throwInvalid(expr, value) : constant(value);
  }

  #throwInvalid(expr: Expr, { message }: CelFailure): never {
    throw new CelSyntaxError(this.#checked.source, [{ offset: expr.offset, message }], message);
  }

  #literal(expr: Expr, parts: readonly Planned[], step: Step): Planned {
    if (!this.#options.features.foldConstants || parts.some((part) => part.constant === undefined)) return { step };
    const value = step(new Run(new Map(), 0, {}));
    if (value instanceof CelFailure) return { step };
    return expr.kind === "struct" ? { step } : constant(value);
  }

  #list(expr: ListLiteral): Planned {
    const parts = expr.elements.map((element) => this.plan(element));
    const steps = parts.map((part) => part.step);
    const optional = expr.elements.map((_, index) => expr.optionalIndices.has(index));
    return this.#literal(expr, parts, listStep(steps, optional));
  }

  #map(expr: MapLiteral): Planned {
    const keys = expr.entries.map((entry) => this.plan(entry.key));
    const values = expr.entries.map((entry) => this.plan(entry.value));
    return this.#literal(expr, [...keys, ...values], mapStep(expr, keys.map(stepOf), values.map(stepOf)));
  }

  #struct(expr: StructLiteral): Planned {
    const values = expr.fields.map((field) => this.plan(field.value).step);
    const typeName = this.#checked.types.get(expr.id)?.name ?? expr.name;
    return { step: structStep(expr, values, (fields) => this.#options.types.create(typeName, fields)) };
  }

  /** The bound value is evaluated when its name is first used, or never. */
  #binding(expr: Comprehension): Planned {
    const range = this.plan(expr.range).step;
    const bound: Bound = { init: this.plan(expr.init).step, isEvaluated: this.slots++ };
    const depth = this.#scopes.length;
    this.#declare(expr.accumulator, bound);
    const result = this.plan(expr.result).step;
    this.#scopes.length = depth;
    return {
      step: (run) => {
        range(run);
        run.locals[bound.isEvaluated] = false;
        return result(run);
      },
    };
  }

  #comprehension(expr: Comprehension): Planned {
    if (isBinding(expr)) return this.#binding(expr);
    const range = this.plan(expr.range).step;
    const init = this.plan(expr.init).step;
    const depth = this.#scopes.length;
    const accumulator = this.#declare(expr.accumulator);
    const first = this.#declare(expr.variable);
    const second = expr.variable2 === undefined ? -1 : this.#declare(expr.variable2);
    const step = this.#quantifier(expr, { range, first, second }) ?? this.#growingList(expr, { range, first, second });
    if (step !== undefined) {
      this.#scopes.length = depth;
      return { step };
    }
    const parts = { condition: this.plan(expr.condition).step, step: this.plan(expr.step).step };
    this.#scopes.length = depth + 1;
    const result = this.plan(expr.result).step;
    this.#scopes.length = depth;
    return { step: fold({ range, init, accumulator, first, second, result, ...parts }) };
  }

  #quantifier(expr: Comprehension, over: FoldVariables & { readonly range: Step }): Step | undefined {
    const parts = quantifierOf(expr);
    return parts && quantifier({ ...over, predicate: this.plan(parts.predicate).step, decisive: parts.decisive });
  }

  #growingList(expr: Comprehension, over: FoldVariables & { readonly range: Step }): Step | undefined {
    const parts = growingListOf(expr);
    const sum = parts && this.#checked.references.get(parts.sum.id);
    if (parts === undefined || sum?.kind !== "call" || sum.declaration.cost !== undefined) return undefined;
    if (!sum.overloads.some((overload) => overload.id === "add_list" && overload.cost === undefined)) return undefined;
    const predicate = parts.predicate && this.plan(parts.predicate).step;
    const element = this.plan(parts.element).step;
    return growingList({
      ...over,
      predicate,
      element,
      listUnits: this.plan(parts.list).constant === undefined ? listCost : 0,
    });
  }

  #declare(name: string, bound?: Bound): number {
    this.#scopes.push([name, this.slots, bound]);
    return this.slots++;
  }
}

/** Source: cel-go, IsTypeConversionFunction */
const conversions = new Set([
  "bool",
  "bytes",
  "double",
  "duration",
  "dyn",
  "int",
  "string",
  "timestamp",
  "type",
  "uint",
]);

const stepOf = ({ step }: Planned): Step => step;

const patternFunctions = new Set(["matches", "find", "findAll"]);
