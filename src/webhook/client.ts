/**
 * Calls webhooks over HTTP/1.1 with persistent connections. Not over HTTP/2: damaged frames of a server can end a process
 * of Node.js 26, by an assertion about the memory of a session.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/webhook.go.
 */
import { type Clock, realClock, systemClock } from "../apimachinery/clock.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { retryAfterSeconds } from "./answer.ts";
import { authorizationOf } from "./authorization-header.ts";
import { inCallSpan } from "./call-span.ts";
import type { CallObserver, PostOptions, WebhookAnswer, WebhookClient, WebhookEndpoint } from "./contract.ts";
import { Deadline } from "./deadline.ts";
import { isRedirect, openTargets, type Post, type Targets } from "./follow-redirects.ts";

/** The options of {@link webhookClient}. */
export interface ClientOptions {
  /** The maximum size of a response body. Upstream has no limit. */
  readonly answerBytesMax?: number;
  /** The maximum number of connections; further calls wait until their timeout. */
  readonly connectionsMax?: number;
  readonly userAgent?: string;
  readonly clock?: Clock;
  /** Notified of each request and response. */
  readonly calls?: CallObserver | undefined;
  /** Whether calls are spans of traced requests, as those of admission and conversion are in upstream. */
  readonly traced?: boolean;
}

const noObserver: CallObserver = { sent() {}, ended() {}, missingSan() {}, insecureSha1() {} };
const defaults = {
  answerBytesMax: 64 << 20,
  connectionsMax: 64,
  userAgent: "kube-apiserver-admission",
};
const retriesMax = 10;

/**
 * Creates a client of one endpoint.
 *
 * @throws Error when the endpoint's certificates cannot be read: `unable to load root certificates:
 *   unable to parse bytes as PEM block`, `tls: failed to find any PEM data in certificate input`
 */
export function webhookClient(endpoint: WebhookEndpoint, options: ClientOptions = {}): WebhookClient {
  const { answerBytesMax, connectionsMax, userAgent: defaultUserAgent } = { ...defaults, ...options };
  const { calls = noObserver, traced = false } = options;
  const clock = realClock(options.clock ?? systemClock);
  const targets = openTargets(endpoint, connectionsMax, calls);
  const authorization = authorizationOf(endpoint, clock);
  const query = timeoutQuery();
  const userAgent = endpoint.userAgent ?? defaultUserAgent;
  const send = async (
    body: string | Uint8Array,
    postOptions: PostOptions,
    traceHeaders?: Post["traceHeaders"],
  ): Promise<WebhookAnswer> => {
    const startedAt = performance.now();
    const deadline = new Deadline(postOptions);
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    let answer: WebhookAnswer | undefined;
    try {
      const post: Post = {
        query: query(postOptions.timeoutMs),
        body: bytes,
        userAgent,
        authorization: await authorization(),
        traceHeaders,
        answerBytesMax,
        deadline,
      };
      for (let attempt = 1; ; attempt++) {
        try {
          answer = await targets.post(post);
          if (isRedirect(answer)) answer = await targets.follow(post, answer);
        } finally {
          calls.sent(targets.host, { bytes: bytes.length, attempt, status: answer?.status });
        }
        const delayMs = attempt > retriesMax ? undefined : retryDelayMs(answer);
        if (delayMs === undefined) return answer;
        answer = undefined;
        await pause(delayMs, post, targets, clock);
      }
    } finally {
      deadline.clear();
      const seconds = (performance.now() - startedAt) / 1000;
      calls.ended(targets.host, { seconds, answerBytes: answer?.body.length });
    }
  };
  return {
    post(body, postOptions) {
      if (!traced) return send(body, postOptions);
      const url = endpoint.url + query(postOptions.timeoutMs);
      return inCallSpan("POST", url, (headers) => send(body, postOptions, headers));
    },
    close: () => targets.close(),
  };
}

/**
 * The delay before the next request, if the response has a Retry-After header.
 * Source: k8s.io/client-go@v0.36.0/rest/with_retry.go.
 */
function retryDelayMs(answer: WebhookAnswer): number | undefined {
  const seconds = answer.status === 429 || answer.status >= 500 ? retryAfterSeconds(answer) : undefined;
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Formats the query, which is the same for most calls. */
function timeoutQuery(): (timeoutMs: number) => string {
  let last = 0;
  let text = "";
  return (timeoutMs) => {
    if (timeoutMs === last) return text;
    last = timeoutMs;
    text = `?timeout=${formatDuration(BigInt(Math.round(timeoutMs)) * 1_000_000n)}`;
    return text;
  };
}

/** @throws WebhookError if the call ends before */
function pause(ms: number, { deadline, query }: Post, targets: Targets, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: Error): void => reject(targets.failure(reason, query));
    if (deadline.reason !== undefined) return fail(deadline.reason);
    const cancel = clock.after(ms, resolve);
    deadline.onEnd((reason) => {
      cancel();
      fail(reason);
    });
  });
}
