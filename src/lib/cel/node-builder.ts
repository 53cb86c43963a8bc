/** Makes the nodes of a syntax tree, and expands macros. Source: cel-go, parser/helper.go. */
import { accumulatorName, type Call, type Expr } from "./ast.ts";
import type { ComprehensionParts, Macro, MacroBuilder } from "./declarations.ts";
import { Abort } from "./token-stream.ts";
import type { CelValue } from "./values/value.ts";

/** The nesting limit of cel-go. A chain such as `a.b.c` counts too. */
export const depthMax = 250;
/** Limits nodes after macro expansion: a macro can use its argument twice. */
const nodesMax = 500_000;

/** The key of a macro in the macros of an environment. */
export function macroKey(macro: Pick<Macro, "name" | "receiver" | "arity">): string {
  return `${macro.name}:${macro.arity}:${macro.receiver}`;
}

/** Makes the nodes of one expression. */
export class NodeBuilder {
  /** By `macroKey`. */
  readonly #macros: ReadonlyMap<string, Macro>;
  readonly #report: (offset: number, message: string) => void;
  #lastId = 0;
  #expanding = false;
  /** Depth of each expression, by id. */
  readonly #depths: number[] = [0];

  /** @param report receives the errors of macros, and that the expression is too large */
  constructor(macros: ReadonlyMap<string, Macro>, report: (offset: number, message: string) => void) {
    this.#macros = macros;
    this.#report = report;
  }

  /**
   * Assigns the id. As in cel-go, nodes that a macro creates around its arguments add no depth.
   * @throws Abort when the expression is too deep, or has too many nodes
   */
  node<Kind extends Expr["kind"]>(
    kind: Kind,
    offset: number,
    children: readonly Expr[],
  ): { id: number; kind: Kind; offset: number } {
    const id = this.nextId();
    let depth = this.#expanding ? 0 : 1;
    const own = depth;
    for (const child of children) depth = Math.max(depth, own + (this.#depths[child.id] ?? 0));
    this.#depths[id] = depth;
    if (depth > depthMax) {
      this.#report(-1, "max recursion depth exceeded");
      throw new Abort();
    }
    return { id, kind, offset };
  }

  /** The id of a node, or of an entry of one. @throws Abort when there are too many */
  nextId(): number {
    if (this.#lastId >= nodesMax) {
      this.#report(-1, `expression has more than ${nodesMax} nodes`);
      throw new Abort();
    }
    this.#depths.push(0);
    return ++this.#lastId;
  }

  /** @throws Abort as `node` */
  constant(offset: number, value: CelValue): Expr {
    return { ...this.node("constant", offset, []), value };
  }

  /** @throws Abort as `node` */
  identifier(offset: number, name: string): Expr {
    return { ...this.node("identifier", offset, []), name };
  }

  /** @throws Abort as `node` */
  call(offset: number, name: string, target: Expr | undefined, args: readonly Expr[]): Call {
    return { ...this.node("call", offset, target === undefined ? args : [target, ...args]), name, target, args };
  }

  /** Expands a call of a macro. @returns undefined when there is no such macro, or it is an ordinary call */
  expanded(name: string, target: Expr | undefined, args: readonly Expr[], offset: number): Expr | undefined {
    const macro = this.#macros.get(macroKey({ name, receiver: target !== undefined, arity: args.length }));
    if (macro === undefined) return undefined;
    const problems: string[] = [];
    this.#expanding = true;
    const expanded = macro.expand(this.#builder(offset, problems), target, args);
    this.#expanding = false;
    if (expanded !== undefined) {
      this.#depths[expanded.id] = (this.#depths[expanded.id] ?? 0) + 1;
      return expanded;
    }
    return problems.length > 0 ? this.constant(offset, null) : undefined;
  }

  /** @param problems receives the errors that the macro reports */
  #builder(offset: number, problems: string[]): MacroBuilder {
    return {
      constant: (value) => this.constant(offset, value),
      identifier: (name) => this.identifier(offset, name),
      call: (name, ...args) => this.call(offset, name, undefined, args),
      memberCall: (name, target, ...args) => this.call(offset, name, target, args),
      list: (...elements) => ({ ...this.node("list", offset, elements), elements, optionalIndices: new Set() }),
      map: (...pairs) => {
        const entries = pairs.map(([key, value]) => ({ id: this.nextId(), offset, key, value, optional: false }));
        return { ...this.node("map", offset, pairs.flat()), entries };
      },
      presence: (operand, field) => ({ ...this.node("select", offset, [operand]), operand, field, testOnly: true }),
      comprehension: (parts) => this.#comprehension(offset, parts),
      reportError: (at, message) => {
        problems.push(message);
        return void this.#report(at.offset, message) as undefined;
      },
    };
  }

  #comprehension(offset: number, parts: ComprehensionParts): Expr {
    const { range, init, condition, step, result } = parts;
    const node = this.node("comprehension", offset, [range, init, condition, step, result]);
    return { ...node, ...parts, variable2: parts.variable2, accumulator: parts.accumulator ?? accumulatorName };
  }
}
