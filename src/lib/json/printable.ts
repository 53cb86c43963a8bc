import { quoteGo } from "./quote.ts";

/**
 * Escapes control characters, so that they do not reach the terminal. Names and messages come from
 * other users.
 */
export function printable(text: string): string {
  return quoteGo(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\");
}
