/** Counts and logs what declarative and hand-written validation do not agree about. */
import type { Logger } from "../api/logger.ts";
import type { ValidationMetrics } from "../metrics/validation-metrics.ts";
import type { ValidationObserver } from "../registry/contract.ts";

/** Of each message and list of messages in a log line; messages show values that clients send. */
const messageCharactersMax = 500;
const messagesMax = 5;

export function validationObserver(metrics: ValidationMetrics, logger: Logger): ValidationObserver {
  const shown = (messages: readonly string[]): string[] => messages.slice(0, messagesMax).map((message) => message.slice(0, messageCharactersMax));
  return {
    mismatch(identifier, { field, reason, origin, handWritten, declarative }) {
      metrics.mismatch(identifier);
      const messages = { handWritten: shown(handWritten), declarative: shown(declarative) };
      logger.error("Declarative and hand-written validation differ", { validation: identifier, field, reason, origin, ...messages });
    },
    panic(identifier, error) {
      metrics.panic(identifier);
      logger.error("Declarative validation failed", { validation: identifier, err: error });
    },
  };
}
