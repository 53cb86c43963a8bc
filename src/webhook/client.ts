/**
 * Calls webhooks over HTTP/1.1 with persistent connections.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/webhook.go.
 */
import type { Clock } from "../apimachinery/clock.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { retryAfterSeconds } from "./answer.ts";
import { authorizationOf } from "./authorization-header.ts";
import type { CallObserver, WebhookAnswer, WebhookClient, WebhookEndpoint } from "./contract.ts";
import { Deadline } from "./deadline.ts";
import { openTargets, type Post, type Targets } from "./follow-redirects.ts";

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
}

const noObserver: CallObserver = { sent() {}, ended() {} };
const defaults = {
  answerBytesMax: 64 << 20,
  connectionsMax: 64,
  userAgent: "kube-apiserver-admission",
  clock: systemClock,
};
const retriesMax = 10;

/**
 * Creates a client of one endpoint.
 *
 * @throws Error when the endpoint's certificates cannot be read: `unable to load root certificates:
 *   unable to parse bytes as PEM block`, `tls: failed to find any PEM data in certificate input`
 */
export function webhookClient(endpoint: WebhookEndpoint, options: ClientOptions = {}): WebhookClient {
  const { answerBytesMax, connectionsMax, userAgent, clock } = { ...defaults, ...options };
  const { calls = noObserver } = options;
  const targets = openTargets(endpoint, connectionsMax);
  const authorization = authorizationOf(endpoint, clock);
  const query = timeoutQuery();
  return {
    async post(body, postOptions) {
      const startedAt = performance.now();
      let answerBytes: number | undefined;
      const deadline = new Deadline(postOptions);
      const bytes = typeof body === "string" ? Buffer.from(body) : body;
      try {
        const credentials = authorization();
        const post: Post = {
          query: query(postOptions.timeoutMs),
          body: bytes,
          userAgent: endpoint.userAgent ?? userAgent,
          authorization: credentials instanceof Promise ? await credentials : credentials,
          answerBytesMax,
          deadline,
        };
        const notify = (attempt: number, status: number | undefined): void =>
          calls.sent(targets.host, { bytes: bytes.length, attempt, status });
        const answer = await sendWithRetries(targets, post, clock, notify);
        answerBytes = answer.body.length;
        return answer;
      } finally {
        deadline.clear();
        calls.ended(targets.host, { seconds: (performance.now() - startedAt) / 1000, answerBytes });
      }
    },
    close: () => targets.close(),
  };
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

/**
 * Repeats a call while responses have a Retry-After header.
 * Source: k8s.io/client-go@v0.36.0/rest/with_retry.go.
 */
async function sendWithRetries(
  targets: Targets,
  post: Post,
  clock: Clock,
  notify: (attempt: number, status: number | undefined) => void,
): Promise<WebhookAnswer> {
  for (let retries = 0; ; retries++) {
    let answer: WebhookAnswer | undefined;
    try {
      answer = await targets.post(post);
    } finally {
      notify(retries + 1, answer?.status);
    }
    const seconds = answer.status === 429 || answer.status >= 500 ? retryAfterSeconds(answer) : undefined;
    if (seconds === undefined || retries === retriesMax) return answer;
    await pause(seconds * 1000, post, targets, clock);
  }
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
