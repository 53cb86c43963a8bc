import type { FailingExchange } from "../../src/request/boundary.ts";

/** A request for tests of callbacks that must not throw. */
export const throwingExchange: FailingExchange = {
  fail(error) {
    throw error;
  },
  entered: undefined,
};
