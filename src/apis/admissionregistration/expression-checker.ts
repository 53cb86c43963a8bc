/** Where expressions of webhooks and policies get compiled. Who knows expressions gives an implementation; without one they are taken as they are. */

/** What an expression has to be. */
export type ExpressionUse = "condition" | "message" | "annotation" | "object" | "patch";

export interface ExpressionVariables {
  readonly hasParams: boolean;
  readonly hasAuthorizer: boolean;
  readonly hasPatchTypes: boolean;
}

export interface ExpressionRequest {
  readonly text: string;
  readonly use: ExpressionUse;
  readonly variables: ExpressionVariables;
  /** It was there before, so that it may use what an older release let it use. */
  readonly isStored: boolean;
}

/** The expressions of one policy. */
export interface PolicyExpressions {
  /** In the order in which the policy names them: each may use those before it. @returns what is wrong, in upstream's words */
  addVariable(name: string, request: Omit<ExpressionRequest, "use">): string | undefined;
  check(request: ExpressionRequest): string | undefined;
}

export interface ExpressionChecker {
  /** @param hasVariables whether there is a `variables` at all */
  open(hasVariables: boolean): PolicyExpressions;
}

export type LoadExpressionChecker = () => Promise<ExpressionChecker>;

/** Takes every expression. */
export const uncheckedExpressions: ExpressionChecker = {
  open: () => ({ addVariable: () => undefined, check: () => undefined }),
};
