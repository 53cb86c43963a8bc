/** The end of a request. */
import type { RequestState } from "../../request/context.ts";
import { WebhookError } from "../../webhook/contract.ts";

/** A signal that aborts when the client has disconnected or the response is complete. */
export function endOf({ exchange }: Pick<RequestState, "exchange">, limit?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  exchange.onClose(() => controller.abort(new WebhookError("canceled", "context canceled")));
  limit?.addEventListener("abort", () => controller.abort(limit.reason));
  return controller.signal;
}
