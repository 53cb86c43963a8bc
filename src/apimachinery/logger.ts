/** Structured logs: one line an event. Source: access-control §4.1 says nothing of logs; the shape is ours. */
export interface Logger {
  info(message: string, values?: Record<string, unknown>): void;
  warn(message: string, values?: Record<string, unknown>): void;
  error(message: string, values?: Record<string, unknown>): void;
}
