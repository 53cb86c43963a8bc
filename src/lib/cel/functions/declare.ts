/** Helpers for function declarations. */
import type { FunctionDeclaration, OverloadDeclaration } from "../declarations.ts";
import type { CelType } from "../types.ts";

type Rest = Omit<OverloadDeclaration, "id" | "member" | "parameters" | "result">;

/** Declares an overload `f(x, y)`. */
export function overload(id: string, parameters: readonly CelType[], result: CelType, rest: Rest): OverloadDeclaration {
  return { id, member: false, parameters, result, ...rest };
}

/** Declares an overload `x.f(y)`; the first parameter is the receiver. */
export function member(id: string, parameters: readonly CelType[], result: CelType, rest: Rest): OverloadDeclaration {
  return { id, member: true, parameters, result, ...rest };
}

/** Declares a function or operator. */
export function declare(name: string, ...overloads: OverloadDeclaration[]): FunctionDeclaration {
  return { name, overloads };
}
