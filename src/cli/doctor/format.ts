import { printable } from "../../lib/json/printable.ts";
import { colored, type TextFormat } from "../colors.ts";
import type { Finding } from "./contract.ts";

const formats: Readonly<Record<Finding["status"], TextFormat>> = { ok: "green", warning: "yellow", problem: "red" };

/** A line for each finding, and one below it with what to do. */
export function formatFindings(findings: readonly Finding[], { isColored }: { readonly isColored: boolean }): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, status, message, advice }) => [
      `${colored(status.padEnd(8), formats[status], isColored)} ${printable(check).padEnd(width)}  ${printable(message)}`,
      ...(advice === undefined ? [] : [`${" ".repeat(9 + width)}  → ${printable(advice)}`]),
    ])
    .map((line) => `${line}\n`)
    .join("");
}
