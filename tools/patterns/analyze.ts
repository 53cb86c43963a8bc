/** Decides whether the time of a regular expression is linear in the length of its input. */
import { createRequire } from "node:module";

/** The verdict on a pattern whose time is linear. */
export const safe = "safe";

// The backend in JavaScript alone; it runs where there is no native one.
const { checkSync } = createRequire(import.meta.url)("recheck/lib/browser.js") as typeof import("recheck");

/**
 * Analyzes a pattern.
 *
 * @returns `safe`, the complexity such as `2nd degree polynomial`, or why it is unknown
 */
export function analyze(source: string, flags: string, timeoutMs: number): string {
  const isSticky = flags.includes("y");
  if (isSticky && flags.includes("m")) return "unknown: sticky and multiline";
  // A sticky pattern is tried at one place only; the caller decides how often.
  const anchored = isSticky ? `^(?:${source})` : source;
  const result = checkSync(anchored, flags.replace(/[gyd]/g, ""), { timeout: timeoutMs });
  if (result.status === "safe") return safe;
  return result.status === "vulnerable" ? result.complexity.summary : `unknown: ${result.error.kind}`;
}
