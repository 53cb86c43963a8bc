/** The standard functions and operators, which every version has. Source: cel-go, common/stdlib */
import type { FunctionDeclaration } from "../../declarations.ts";
import { arithmetic } from "./arithmetic.ts";
import { conversions } from "./conversions.ts";
import { logic } from "./logic.ts";
import { strings } from "./strings.ts";
import { time } from "./time.ts";

export const standardFunctions: readonly FunctionDeclaration[] = [
  ...logic,
  ...arithmetic,
  ...strings,
  ...conversions,
  ...time,
];
