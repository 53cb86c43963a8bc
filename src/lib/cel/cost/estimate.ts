/**
 * Estimates the cost of an expression from the sizes of its data. Source: cel-go, checker/cost.go
 */
import {
  accumulatorName,
  type Call,
  type Comprehension,
  type Expr,
  isBinding,
  type ListLiteral,
  type MapLiteral,
  type Select,
} from "../ast.ts";
import type { CheckedAst } from "../checker.ts";
import type { CallEstimate, SizedNode, SizeHints } from "../declarations.ts";
import { type CelType, dynType, isOptional } from "../types.ts";
import { sizeOf } from "../values/containers.ts";
import { fixed, plus, type Range, times, union, unknownRange } from "./range.ts";

/** Hints without any size. */
export const noHints: SizeHints = { estimateSize: () => undefined };

const zero = fixed(0);
const one = fixed(1);

/** Sizes of the keys (or indices) and values of a list or map. */
interface EntrySize {
  readonly container: "list" | "map";
  readonly key: Range;
  readonly value: Range;
}

interface LocalVariable {
  readonly name: string;
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entrySize: EntrySize | undefined;
}

/** The sizes of the data, and the cost of `has()`. */
interface EstimateOptions {
  readonly hints: SizeHints;
  readonly presenceTestCost: 0 | 1;
}

/** Returns the minimum and maximum cost of an evaluation, in units. */
export function estimateCost(checked: CheckedAst, options: EstimateOptions): Range {
  return new Estimator(checked, options).cost(checked.root);
}

class Estimator {
  readonly #checked: CheckedAst;
  readonly #options: EstimateOptions;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entrySizes = new Map<number, EntrySize>();
  readonly #locals: LocalVariable[] = [];
  /** By the id of the expression: an expression that a macro uses twice is estimated once. */
  readonly #costs = new Map<number, Range>();

  constructor(checked: CheckedAst, options: EstimateOptions) {
    this.#checked = checked;
    this.#options = options;
  }

  cost(expr: Expr): Range {
    const before = this.#costs.get(expr.id);
    if (before !== undefined) return before;
    const cost = this.#cost(expr);
    this.#costs.set(expr.id, cost);
    return cost;
  }

  #cost(expr: Expr): Range {
    switch (expr.kind) {
      case "constant":
        return zero;
      case "identifier":
        this.#paths.set(expr.id, this.#local(expr.name)?.path ?? [expr.name]);
        return one;
      case "select":
        return this.#select(expr);
      case "call":
        return this.#call(expr);
      case "list":
        return this.#list(expr);
      case "map":
        return this.#map(expr);
      case "struct":
        return expr.fields.reduce((sum, field) => plus(sum, this.cost(field.value)), fixed(40));
      case "comprehension":
        return isBinding(expr) ? this.#binding(expr) : this.#comprehension(expr);
    }
  }

  #typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? dynType;
  }

  #local(name: string): LocalVariable | undefined {
    return this.#locals.findLast((local) => local.name === name);
  }

  #path(expr: Expr): readonly string[] {
    return (expr.kind === "identifier" ? this.#local(expr.name)?.path : undefined) ?? this.#paths.get(expr.id) ?? [];
  }

  #select(expr: Select): Range {
    const reference = this.#checked.references.get(expr.id);
    if (reference?.kind === "variable") {
      this.#paths.set(expr.id, [reference.name]); // `a.b.c` is one name.
      return one;
    }
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return plus(operand, fixed(this.#options.presenceTestCost));
    this.#paths.set(expr.id, [...this.#path(expr.operand), expr.field]);
    const selectable = ["map", "object", "parameter"].includes(this.#typeOf(expr.operand).kind);
    return selectable ? plus(operand, one) : operand;
  }

  #list(expr: ListLiteral): Range {
    const cost = expr.elements.reduce((sum, element) => plus(sum, this.cost(element)), fixed(10));
    this.#entrySizes.set(expr.id, { container: "list", key: one, value: this.#unionOfSizes(expr.elements) });
    return cost;
  }

  #map(expr: MapLiteral): Range {
    const cost = expr.entries.reduce(
      (sum, entry) => plus(plus(sum, this.cost(entry.key)), this.cost(entry.value)),
      fixed(30),
    );
    const key = this.#unionOfSizes(expr.entries.map((entry) => entry.key));
    this.#entrySizes.set(expr.id, {
      container: "map",
      key,
      value: this.#unionOfSizes(expr.entries.map((entry) => entry.value)),
    });
    return cost;
  }

  #unionOfSizes(exprs: readonly Expr[]): Range {
    if (exprs.length === 0) return zero;
    return exprs.map((expr) => this.#size(expr) ?? unknownRange).reduce(union);
  }

  // Calls.

  #call(expr: Call): Range {
    const reference = this.#checked.references.get(expr.id);
    if (expr.name === "dyn" && expr.args.length === 1) return this.#dyn(expr, expr.args[0] as Expr);
    const argCosts = expr.args.map((arg) => this.cost(arg));
    const args = expr.args.map((arg) => this.#node(arg));
    if (reference?.kind !== "call" || reference.overloads.length === 0) return zero;
    const member = expr.target !== undefined && !reference.qualified;
    const targetCost = member ? this.cost(expr.target as Expr) : zero;
    const target = member ? this.#node(expr.target as Expr) : undefined;
    const argSum = argCosts.reduce(plus, zero);
    let cost: Range | undefined;
    let resultSize: Range | undefined;
    for (const overload of reference.overloads) {
      const whole = wholeCost(expr.name, argCosts);
      const call = { target, args, hints: this.#options.hints };
      const estimated: CallEstimate = (reference.declaration.estimate ?? overload.estimate)?.(call) ?? { cost: one };
      const overloadCost = whole ?? plus(estimated.cost, argSum);
      cost = cost === undefined ? overloadCost : union(cost, overloadCost);
      if (estimated.resultSize !== undefined)
        resultSize = resultSize === undefined ? estimated.resultSize : union(resultSize, estimated.resultSize);
      resultSize = this.#trackEntries(expr, overload.id, resultSize) ?? this.#size(expr);
    }
    if (resultSize !== undefined) this.#sizes.set(expr.id, resultSize);
    return plus(targetCost, cost as Range);
  }

  /** Records the path of an indexed element and the entry sizes of a result. */
  #trackEntries(expr: Call, overload: string, resultSize: Range | undefined): Range | undefined {
    const [first, second, third] = expr.args as [Expr, Expr | undefined, Expr | undefined];
    if (overload === "index_list" || overload === "index_map") {
      this.#paths.set(expr.id, [...this.#path(first), overload === "index_list" ? "@items" : "@values"]);
      return this.#entrySize(first)?.value;
    }
    if (overload === "conditional" && second !== undefined && third !== undefined) {
      this.#setEntrySize(expr, unionOfEntries(this.#entrySize(second), this.#entrySize(third)));
      return union(this.#size(second) ?? unknownRange, this.#size(third) ?? unknownRange);
    }
    if (overload.startsWith("add_") && second !== undefined)
      this.#setEntrySize(expr, unionOfEntries(this.#entrySize(first), this.#entrySize(second)));
    return resultSize;
  }

  #dyn(expr: Expr, arg: Expr): Range {
    const cost = this.cost(arg);
    this.#copySizes(expr, arg);
    return plus(cost, one);
  }

  #node(expr: Expr): SizedNode {
    const path = this.#path(expr);
    const startsAtVariable = path.length > 0 && path[0] !== accumulatorName;
    return { path: startsAtVariable ? path : undefined, type: this.#typeOf(expr), expr, size: this.#size(expr) };
  }

  // Comprehensions.

  #comprehension(expr: Comprehension): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.init));
    this.#pushLocal(expr.accumulator, expr.init);
    const depth = this.#locals.length;
    this.#pushElements(expr);
    const iteration = plus(this.cost(expr.condition), this.cost(expr.step));
    this.#locals.length = depth;
    sum = plus(sum, this.cost(expr.result));
    this.#locals.length = depth - 1;
    const count = this.#size(expr.range) ?? unknownRange;
    if (expr.init.kind === "constant") this.#sizes.set(expr.id, one);
    else if (expr.init.kind === "list" || expr.init.kind === "map") {
      this.#sizes.set(expr.id, count);
      this.#setEntrySize(expr, this.#entrySize(expr.step));
    }
    return plus(sum, times(count, iteration));
  }

  #binding(expr: Comprehension): Range {
    let sum = plus(this.cost(expr.range), this.cost(expr.init));
    this.#pushLocal(expr.accumulator, expr.init);
    sum = plus(sum, this.cost(expr.result));
    this.#copySizes(expr, expr.result);
    this.#locals.pop();
    return sum;
  }

  #pushLocal(name: string, expr: Expr): void {
    this.#locals.push({ name, path: this.#path(expr), size: this.#size(expr), entrySize: this.#entrySize(expr) });
  }

  #pushElements(expr: Comprehension): void {
    const entries = this.#entrySize(expr.range);
    const isList = (entries?.container ?? this.#typeOf(expr.range).kind) === "list";
    const path = this.#path(expr.range);
    const push = (name: string, part: string, size: Range | undefined): void => {
      this.#locals.push({ name, path: [...path, part], size, entrySize: undefined });
    };
    if (expr.variable2 === undefined) {
      push(expr.variable, isList ? "@items" : "@keys", isList ? entries?.value : entries?.key);
      return;
    }
    push(expr.variable, isList ? "@indices" : "@keys", entries?.key);
    push(expr.variable2, isList ? "@items" : "@values", entries?.value);
  }

  // Sizes.

  #copySizes(to: Expr, from: Expr): void {
    const size = this.#size(from);
    if (size !== undefined) this.#sizes.set(to.id, size);
    this.#setEntrySize(to, this.#entrySize(from));
  }

  #size(expr: Expr): Range | undefined {
    const existing = this.#sizes.get(expr.id) ?? literalSize(expr);
    if (existing !== undefined) return existing;
    const type = this.#typeOf(expr);
    const hinted = this.#options.hints.estimateSize({ expr, path: this.#path(expr), type });
    if (hinted !== undefined) {
      this.#sizes.set(expr.id, hinted);
      return hinted;
    }
    if (isScalar(type)) return one;
    return expr.kind === "identifier" ? this.#local(expr.name)?.size : undefined;
  }

  #setEntrySize(expr: Expr, size: EntrySize | undefined): void {
    if (size !== undefined) this.#entrySizes.set(expr.id, size);
  }

  #entrySize(expr: Expr): EntrySize | undefined {
    return (
      this.#entrySizes.get(expr.id) ?? (expr.kind === "identifier" ? this.#local(expr.name)?.entrySize : undefined)
    );
  }
}

/** The cost of operators that do not evaluate all operands. */
function wholeCost(name: string, args: readonly Range[]): Range | undefined {
  const [first, second, third] = args as [Range, Range, Range];
  if (name === "_&&_" || name === "_||_") return { min: first.min, max: plus(first, second).max };
  return name === "_?_:_" ? plus(first, union(second, third)) : undefined;
}

function unionOfEntries(left: EntrySize | undefined, right: EntrySize | undefined): EntrySize | undefined {
  if (left === undefined || right === undefined) return undefined;
  return { container: left.container, key: union(left.key, right.key), value: union(left.value, right.value) };
}

function literalSize(expr: Expr): Range | undefined {
  if (expr.kind === "constant") return fixed(sizeOf(expr.value));
  if (expr.kind === "list") return fixed(expr.elements.length);
  return expr.kind === "map" ? fixed(expr.entries.length) : undefined;
}

function isScalar(type: CelType): boolean {
  if (isOptional(type)) return isScalar(type.parameters[0] as CelType);
  return ["bool", "double", "duration", "int", "timestamp", "uint"].includes(type.kind);
}

/** The size of an argument for costs. @returns the size of the argument, or the range of all sizes if it is unknown or absent */
export function sizeOrUnknown(node: SizedNode | undefined): Range {
  return node?.size ?? unknownRange;
}
