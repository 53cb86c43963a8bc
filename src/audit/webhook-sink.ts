/** The webhook backend. Source: k8s.io/apiserver@v0.36.0/plugin/pkg/audit/webhook/webhook.go. */

import { untilAborted } from "../request/lifetime.ts";
import { checkAnswer } from "../webhook/answer.ts";
import type { WebhookClient } from "../webhook/contract.ts";
import { withBackoff } from "../webhook/retry.ts";
import { backendSink, type SinkOptions } from "./backend-sink.ts";
import type { AuditSink, AuditWebhookOptions } from "./contract.ts";
import { formatEventList, formatListedEvent } from "./format-event.ts";

interface WebhookSinkNeeds extends SinkOptions {
  /** Returns numbers from 0 up to, but not including, 1; for the jitter of retries. */
  readonly random?: () => number;
}

/** The limit for one try, including the response. */
const timeoutMs = 30_000;
/**
 * The maximum number of concurrent posts; other events wait in the queue. Upstream has no limit.
 */
const postsAtOnceMax = 64;

/** @returns a sink that posts EventLists to the webhook */
export function webhookSink(client: WebhookClient, options: AuditWebhookOptions, shared: WebhookSinkNeeds): AuditSink {
  const { clock, random = Math.random } = shared;
  const ending = new AbortController();
  const post = async (events: readonly string[], end: AbortSignal): Promise<void> => {
    const body = formatEventList(events);
    const send = async (): Promise<void> => checkAnswer(await client.post(body, { timeoutMs }));
    const wasEnding = end.aborted;
    try {
      // Retries after every kind of failure, because the events would be lost otherwise.
      await withBackoff(
        {
          initialDelayMs: options.initialBackoffMs,
          clock,
          random,
          lifetime: untilAborted(end),
          shouldRetry: () => !wasEnding,
        },
        send,
      );
    } catch (error) {
      if (wasEnding || !end.aborted) throw error;
      await send(); // One more try without a delay.
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
    shared,
  );
}
