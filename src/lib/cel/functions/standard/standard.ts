/** The functions of the language, of every version. */
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
