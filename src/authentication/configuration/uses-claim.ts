/**
 * Finds claims in expressions, for the rule about `claims.email`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/validation/validation.go.
 */
import type { Compiled } from "../../cel-environment/index.ts";
import { children, type Expr } from "../../lib/cel/index.ts";

/**
 * @returns whether the expression contains `claims.<name>` or `claims.?<name>`; as upstream,
 *   ignores `claims["<name>"]`
 */
export function usesClaim({ checked }: Compiled, name: string): boolean {
  return checked !== undefined && reads(checked.root, name);
}

function reads(expr: Expr, name: string): boolean {
  if (expr.kind === "select" && isClaims(expr.operand) && expr.field === name) return true;
  if (expr.kind === "call" && expr.target === undefined && expr.name === "_?._") {
    const [operand, field] = expr.args;
    if (operand !== undefined && isClaims(operand) && field?.kind === "constant" && field.value === name) return true;
  }
  return children(expr).some((child) => reads(child, name));
}

function isClaims(expr: Expr): boolean {
  return expr.kind === "identifier" && expr.name === "claims";
}
