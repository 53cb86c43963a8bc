/**
 * Compiles the CEL expressions of webhooks and policies. Without an implementation, expressions are
 * not checked.
 */

/** The role of an expression, which decides its result type. */
export type ExpressionUse = "condition" | "message" | "annotation" | "object" | "patch";

/** The optional variables of an expression. */
export interface ExpressionVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  readonly hasPatchTypes: boolean;
}

/** One expression to compile. */
interface ExpressionRequest {
  readonly text: string;
  readonly use: ExpressionUse;
  readonly variables: ExpressionVariables;
  /**
   * The stored object has the same expression, so that it may use libraries that new expressions
   * may not.
   */
  readonly isStored: boolean;
}

/** The expressions of one policy. */
export interface PolicyExpressions {
  /**
   * Compiles a variable. Call it in the policy's order: each variable may use those before it.
   *
   * @returns upstream's message when the expression is invalid
   */
  addVariable(name: string, request: Omit<ExpressionRequest, "use">): string | undefined;
  /** @returns upstream's message when the expression is invalid */
  check(request: ExpressionRequest): string | undefined;
}

/** Compiles the expressions of policies and webhooks. */
export interface ExpressionChecker {
  /** @param hasVariables whether expressions may use the variable `variables` */
  open(hasVariables: boolean): PolicyExpressions;
}

/** Loads the implementation on first use. */
export type LoadExpressionChecker = () => Promise<ExpressionChecker>;

/** Accepts every expression. */
export const uncheckedExpressions: ExpressionChecker = {
  open: () => ({ addVariable: () => undefined, check: () => undefined }),
};
