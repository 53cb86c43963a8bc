/**
 * Expressions without type checking: variables and functions are found by name, and all overloads
 * with the right number of arguments are candidates at run time. Costs of overloads do not apply,
 * because the overload is not known when the expression is planned. Source: cel-go,
 * interpreter/planner.go
 */
import { type Ast, type Call, children, type Expr } from "./ast.ts";
import { type CheckedAst, type CheckerOptions, qualifiedName, type Reference } from "./checker.ts";
import type { OverloadDeclaration } from "./declarations.ts";
import { dynType } from "./types.ts";

/** Resolves names only; the type of the expression is dyn. */
export function unchecked(ast: Ast, options: Pick<CheckerOptions, "variables" | "functions">): CheckedAst {
  const references = new Map<number, Reference>();
  const seen = new Set<number>();
  const visit = (expr: Expr, locals: ReadonlySet<string>): void => {
    if (seen.has(expr.id)) return;
    seen.add(expr.id);
    const reference = referenceOf(expr, locals, options);
    if (reference !== undefined) references.set(expr.id, reference);
    if (expr.kind !== "comprehension") {
      for (const child of children(expr)) visit(child, locals);
      return;
    }
    visit(expr.range, locals);
    visit(expr.init, locals);
    const outer = new Set(locals).add(expr.accumulator);
    const inner = new Set(outer).add(expr.variable).add(expr.variable2 ?? expr.variable);
    visit(expr.condition, inner);
    visit(expr.step, inner);
    visit(expr.result, outer);
  };
  visit(ast.root, new Set());
  return { ...ast, type: dynType, types: new Map(), references };
}

function referenceOf(
  expr: Expr,
  locals: ReadonlySet<string>,
  options: Pick<CheckerOptions, "variables" | "functions">,
): Reference | undefined {
  if (expr.kind === "call") return callReference(expr, options);
  const name = qualifiedName(expr);
  if (name === undefined || locals.has(name.split(".", 1)[0] as string)) return undefined;
  const declared = options.variables.get(name.replace(/^\./, ""));
  return declared === undefined ? undefined : { kind: "variable", name: declared.name, value: declared.value };
}

function callReference(expr: Call, { functions }: Pick<CheckerOptions, "functions">): Reference | undefined {
  const prefix = expr.target === undefined ? undefined : qualifiedName(expr.target);
  const namespaced = prefix === undefined ? undefined : functions.get(`${prefix.replace(/^\./, "")}.${expr.name}`);
  const declaration = namespaced ?? functions.get(expr.name.replace(/^\./, ""));
  if (declaration === undefined) return undefined;
  const qualified = namespaced !== undefined;
  const member = expr.target !== undefined && !qualified;
  const arity = expr.args.length + (member ? 1 : 0);
  const overloads = declaration.overloads.filter(
    (overload) => overload.member === member && overload.parameters.length === arity,
  );
  return {
    kind: "call",
    declaration,
    overloads: equalities.has(expr.name) ? overloads : overloads.map(withoutCost),
    qualified,
  };
}

/** Operators with a single overload keep its cost. */
const equalities = new Set(["_==_", "_!=_"]);

function withoutCost({ cost: _, ...overload }: OverloadDeclaration): OverloadDeclaration {
  return overload;
}
