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
}

/** Logs nothing. */
export const silentLogger: Logger = { info() {}, warn() {}, error() {} };
