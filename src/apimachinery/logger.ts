/** Structured logging. Messages are short statements; values are fields of the entry. */
export interface Logger {
  info(message: string, values?: Record<string, unknown>): void;
  warn(message: string, values?: Record<string, unknown>): void;
  error(message: string, values?: Record<string, unknown>): void;
}
