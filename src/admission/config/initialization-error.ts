import { quoteGo } from "../../lib/json/quote.ts";

/** A configuration that can be decoded, and with which the plugin cannot start. */
export class InitializationError extends Error {
  /** @param message upstream's, without the name of the plugin */
  constructor(message: string) {
    super(message);
    this.name = "InitializationError";
  }
}

/** @returns the error that ends the start, because a plugin cannot use its configuration */
export function startError(plugin: string, cause: Error): Error {
  const what = cause instanceof InitializationError ? "failed to initialize" : "couldn't init";
  return new Error(`${what} admission plugin ${quoteGo(plugin)}: ${cause.message}`, { cause });
}
