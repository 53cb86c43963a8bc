/**
 * Structured logging. Messages are short statements; values are fields of the entry.
 *
 * @example
 * ```ts
 * import { type Logger, startServer } from "coxswain";
 *
 * const problems: string[] = [];
 * const logger: Logger = {
 *   info() {},
 *   warn: (message) => problems.push(message),
 *   error: (message) => problems.push(message),
 * };
 * const server = await startServer({ logger });
 * await server.close();
 * ```
 */
export interface Logger {
  /** Reports what the server does. */
  info(message: string, values?: Record<string, unknown>): void;
  /** Reports what an administrator should check. */
  warn(message: string, values?: Record<string, unknown>): void;
  /** Reports what failed. */
  error(message: string, values?: Record<string, unknown>): void;
  /** Reports a detail, which `Verbosity` has selected by its level. Without it, `info` is called. */
  detail?(level: number, message: string, values?: Record<string, unknown>): void;
}

/** The text of a value that was thrown, for an entry about a bug: the stack of an error. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Logs nothing. */
export const silentLogger: Logger = { info() {}, warn() {}, error() {} };
