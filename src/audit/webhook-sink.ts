/** The webhook backend: EventLists that are posted to another server. Source: upstream's plugin/pkg/audit/webhook. */
import { checkAnswer } from "../webhook/answer.ts";
import type { WebhookClient } from "../webhook/contract.ts";
import { withBackoff } from "../webhook/retry.ts";
import { backendSink, type SinkNeeds } from "./backend-sink.ts";
import type { AuditSink, AuditWebhookOptions } from "./contract.ts";
import { formatEventList, formatListedEvent } from "./format-event.ts";

export interface WebhookSinkNeeds extends SinkNeeds {
  /** Between 0 and 1. */
  readonly random?: () => number;
}

/** Of one try, to the end of its answer. */
const timeoutMs = 30_000;
/** Upstream has no limit; beyond this, events wait in the queue. */
const postsAtOnceMax = 64;

export function webhookSink(client: WebhookClient, options: AuditWebhookOptions, needs: WebhookSinkNeeds): AuditSink {
  const { clock, random = Math.random } = needs;
  const ending = new AbortController();
  const post = async (events: readonly string[], end: AbortSignal): Promise<void> => {
    const body = formatEventList(events);
    const send = async (): Promise<void> => checkAnswer(await client.post(body, { timeoutMs }));
    const wasEnding = end.aborted;
    try {
      // Every failure is tried again, whatever it is: the events would be lost.
      await withBackoff(
        { initialDelayMs: options.initialBackoffMs, clock, random, signal: end, shouldRetry: () => !wasEnding },
        send,
      );
    } catch (error) {
      if (wasEnding || !end.aborted) throw error;
      await send(); // There is no time to wait, but for one more try.
    }
  };
  return backendSink(
    {
      plugin: "webhook",
      atOnceMax: postsAtOnceMax,
      batchCharactersMax: options.truncate.enabled ? options.truncate.maxBatchBytes : Number.POSITIVE_INFINITY,
      joinsBatches: false,
      format: formatListedEvent,
      deliver: post,
      deliverNow: (event) => post([event], ending.signal),
      async close() {
        ending.abort();
        client.close();
      },
    },
    options,
    needs,
  );
}
