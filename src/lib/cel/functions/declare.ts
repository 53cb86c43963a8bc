/** Helpers for function declarations. */
import type { FunctionDeclaration, OverloadDeclaration } from "../declarations.ts";
import type { CelType } from "../types.ts";

/** The implementation and the costs of an overload. */
export type OverloadBody = Omit<OverloadDeclaration, "id" | "member" | "parameters" | "result">;

/** Declares an overload `f(x, y)`. */
export function overload(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  body: OverloadBody = {},
): OverloadDeclaration {
  return { id, member: false, parameters, result, ...body };
}

/** Declares an overload `x.f(y)`; the first parameter is the receiver. */
export function member(
  id: string,
  parameters: readonly CelType[],
  result: CelType,
  body: OverloadBody = {},
): OverloadDeclaration {
  return { id, member: true, parameters, result, ...body };
}

/** Declares a function or operator. */
export function declare(name: string, ...overloads: OverloadDeclaration[]): FunctionDeclaration {
  return { name, overloads };
}

/** Declares a function or operator with one implementation, which receives values of any type. */
export function declareShared(
  name: string,
  evaluate: FunctionDeclaration["evaluate"],
  ...overloads: OverloadDeclaration[]
): FunctionDeclaration {
  return { name, overloads, evaluate };
}
