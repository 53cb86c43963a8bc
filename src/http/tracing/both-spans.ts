import type { Span } from "../../apimachinery/spans.ts";

/** One span that is recorded and logged. */
export function bothSpans(recorded: Span, logged: Span): Span {
  return {
    addEvent(name, attributes) {
      recorded.addEvent(name, attributes);
      logged.addEvent(name, attributes);
    },
    setAttributes(attributes) {
      recorded.setAttributes(attributes);
      logged.setAttributes(attributes);
    },
    start: (...started) => bothSpans(recorded.start(...started), logged.start(...started)),
    fail(message) {
      recorded.fail(message);
      logged.fail(message);
    },
    end(logMs) {
      recorded.end(logMs);
      logged.end(logMs);
    },
    headers: () => recorded.headers(),
  };
}
