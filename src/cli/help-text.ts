/** Sections of the help of commands. */
import { colored } from "./colors.ts";
import type { ExitCodes } from "./exit-codes.ts";

interface Colors {
  readonly isColored: boolean;
}

/** A section with examples. @param lines command lines without `coxswain` */
export function formatExamples(lines: readonly string[], { isColored }: Colors): string {
  return [colored("Examples:", "bold", isColored), ...lines.map((line) => `  coxswain ${line}`.trimEnd())].join("\n");
}

/** `Exit codes: 0 allowed; 1 not allowed; 2 ….` */
export function formatExitCodes(codes: ExitCodes, { isColored }: Colors): string {
  const listed = codes.map(([code, meaning]) => `${code} ${meaning}`).join("; ");
  return `${colored("Exit codes:", "bold", isColored)} ${listed}.`;
}
