/** Counts and logs what validations find besides their errors. */
import type { Logger } from "../apimachinery/logger.ts";
import type { ValidationMetrics } from "../metrics/validation-metrics.ts";
import type { ValidationObserver } from "../registry/contract.ts";

/** Limits of one log line, because messages repeat values that clients send. */
const messageCharactersMax = 500;
const messagesMax = 5;
/** Log lines for one object. All mismatches are counted. */
const mismatchesMax = 10;

/** Creates the observer that the registry reports differences to. */
export function validationObserver(metrics: ValidationMetrics, logger: Logger): ValidationObserver {
  const shown = (messages: readonly string[]): string[] =>
    messages.slice(0, messagesMax).map((message) => message.slice(0, messageCharactersMax));
  return {
    mismatched(identifier, mismatches) {
      metrics.mismatched(identifier, mismatches.length);
      for (const { field, reason, origin, handWritten, declarative } of mismatches.slice(0, mismatchesMax)) {
        const messages = { handWritten: shown(handWritten), declarative: shown(declarative) };
        logger.error("Declarative and hand-written validation differ", {
          validation: identifier,
          field,
          reason,
          origin,
          ...messages,
        });
      }
    },
    panic(identifier, error) {
      metrics.panic(identifier);
      logger.error("Declarative validation failed", { validation: identifier, err: error });
    },
    rejectedUpdate(causes) {
      const different = new Set(causes.map(({ field, message }) => `${field}: ${message}`));
      metrics.repeated(causes.length - different.size);
    },
  };
}
