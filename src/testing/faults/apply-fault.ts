/** Applies a fault to a request before its endpoint. */
import {
  conflict,
  expired,
  internalError,
  objectModified,
  timeout,
  tooManyRequests,
} from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { RequestContext } from "../../http/contract.ts";
import { sendError } from "../../http/errors.ts";
import { requestTimedOut } from "../../http/filters/timeout-parameter.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { BodyStream, Exchange } from "../../request/exchange.ts";
import { overriding } from "../overriding.ts";
import type { Delays } from "./delays.ts";
import type { ActiveRule } from "./rules.ts";
import { type ChangeHistory, staleRegistry } from "./stale-read.ts";

interface ApplyNeeds {
  readonly delays: Delays;
  readonly logger: Logger;
  readonly history: ChangeHistory;
}

/**
 * Applies a fault.
 * @returns the registry that serves the request
 * @throws ApiError to answer with it instead
 */
export async function applyFault(
  rule: ActiveRule,
  context: RequestContext,
  registry: RegistryContext,
  { delays, logger, history }: ApplyNeeds,
): Promise<RegistryContext> {
  const { info, exchange } = context;
  const { fault } = rule;
  switch (fault.type) {
    case "conflict":
      throw conflict(info, info.name, objectModified);
    case "gone":
      throw expired("The resourceVersion for the provided list is too old.");
    case "tooManyRequests":
      throw tooManyRequests("Too many requests, please try again later.", fault.retryAfterSeconds ?? 1);
    case "internalError":
      throw internalError(fault.message ?? "a fault of the test kit");
    case "timeoutBeforeCommit":
      throw requestTimedOut(info.verb);
    case "timeoutAfterCommit":
      context.exchange = insteadOfSuccess(context, () => sendError(context, requestTimedOut(info.verb), logger));
      return registry;
    case "latency":
      await delays.wait(exchange, fault.ms, rule);
      return registry;
    case "cutConnection":
      if (fault.when === "after") {
        context.exchange = insteadOfSuccess(context, () => exchange.endConnection("now"));
        return registry;
      }
      context.exchange = overriding(exchange, { closed: true });
      exchange.endConnection("now");
      throw timeout("the connection is closed");
    case "staleRead":
      return staleRegistry(registry, context, fault, history);
    case "cutWatch":
    case "stallWatch":
    case "missingBookmark":
      return registry; // They apply when the watch starts.
  }
}

/** An exchange that acts when the endpoint answers with success, instead of sending the answer. */
function insteadOfSuccess(context: RequestContext, act: () => void): Exchange {
  const { exchange } = context;
  const replaces = (status: number): boolean => {
    context.exchange = exchange;
    if (status >= 300) return false;
    act();
    return true;
  };
  return overriding(exchange, {
    respond(status, headers, body) {
      if (!replaces(status)) exchange.respond(status, headers, body);
    },
    stream: (status, headers) => (replaces(status) ? unsent : exchange.stream(status, headers)),
  });
}

/** Accepts a response that is not sent. */
const unsent: BodyStream = {
  write(_piece, taken) {
    taken?.();
    return true;
  },
  drained: async () => undefined,
  pendingBytes: 0,
  end() {},
  abort() {},
};
