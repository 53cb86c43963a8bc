/** An admission webhook whose answers are data. */
import type { ServerResponse } from "node:http";
import { startWebhookServer, type WebhookReply, type WebhookRequest } from "./webhook-server.ts";

/** The answer to one review. Without fields, it allows the request. */
export interface WebhookAnswer {
  /** Fields of the response, in addition to `uid` and `allowed: true`. */
  readonly response?: Readonly<Record<string, unknown>>;
  /** Encoded as base64; the type is JSONPatch unless the response has one. */
  readonly patch?: unknown;
  /** Fields of the review that replace those of the request. */
  readonly review?: Readonly<Record<string, unknown>>;
  /** Fields that are not sent: `kind` or `response.allowed`. */
  readonly omit?: readonly string[];
  /** The body, instead of a review. */
  readonly text?: string;
  /** The HTTP status. */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers never, or closes the connection without an answer. */
  readonly ends?: "hang" | "close";
}

export interface ScriptedWebhook {
  /** The answers by path. */
  script(answers: Readonly<Record<string, readonly WebhookAnswer[]>>): void;
  /** Replaces `$WEBHOOK`, `"$PORT"` and `$CA` in a text. */
  fill(text: string): string;
  /** Forgets the received reviews and which answers were given. */
  forget(): void;
  /** @returns path and body of the received reviews about requests of a user */
  reviews(user: string): [path: string, body: string][];
  /** Paths of all calls since the start. */
  readonly called: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Names under which services are reached; see `ExternalName` in the scenarios. */
const names = ["127.0.0.1", "localhost", "hooks.services.svc"];

/** The script is for reviews about requests of these users: others set up the scenario, or are the server itself. */
const scriptedUsers = "golden-";

/** @param options the port, or any free one */
export async function startScriptedWebhook(options: { readonly port?: number } = {}): Promise<ScriptedWebhook> {
  let answers: Readonly<Record<string, readonly WebhookAnswer[]>> = {};
  const counts = new Map<string, number>();
  const called = new Set<string>();
  const server = await startWebhookServer(
    (request) => {
      const path = request.path.split("?")[0] as string;
      called.add(path);
      const isScripted = isImageReview(request) || request.body?.request?.userInfo?.username?.startsWith(scriptedUsers);
      const list = isScripted ? (answers[path] ?? [{}]) : [{}];
      const count = counts.get(path) ?? 0;
      counts.set(path, count + 1);
      return replyTo(request, list[Math.min(count, list.length - 1)] ?? {});
    },
    { names, ...options },
  );
  const ca = Buffer.from(server.ca).toString("base64");
  return {
    script(next) {
      answers = next;
      counts.clear();
    },
    fill: (text) =>
      text.replaceAll("$WEBHOOK", server.url).replaceAll('"$PORT"', String(server.port)).replaceAll("$CA", ca),
    forget() {
      server.requests.length = 0;
      counts.clear();
    },
    reviews: (user) =>
      server.requests
        .filter((request) => isImageReview(request) || request.body?.request?.userInfo?.username === user)
        .map(({ path, text }) => [path, text.trim()]),
    called,
    close: () => server.close(),
  };
}

/** They name no user. */
function isImageReview({ body }: WebhookRequest): boolean {
  return body?.kind === "ImageReview";
}

/** @returns the answer to one review */
export function replyTo({ body }: WebhookRequest, answer: WebhookAnswer): WebhookReply {
  const { ends, text, code = 200, headers = {}, patch, response = {}, review = {}, omit = [] } = answer;
  if (ends === "hang") return () => {};
  if (ends === "close") return (sent) => sent.socket?.destroy();
  const patched = patch === undefined ? {} : { patch: encoded(patch), patchType: "JSONPatch" };
  const full = {
    apiVersion: body?.apiVersion,
    kind: body?.kind,
    response: { uid: body?.request?.uid, allowed: true, ...patched, ...response },
    ...review,
  };
  for (const field of omit) removeField(full, field.split("."));
  return (sent: ServerResponse) => {
    sent.writeHead(code, { "content-type": "application/json", ...headers });
    sent.end(text ?? JSON.stringify(full));
  };
}

function removeField(object: Record<string, unknown>, [field = "", ...rest]: readonly string[]): void {
  if (rest.length === 0) delete object[field];
  else removeField(object[field] as Record<string, unknown>, rest);
}

const encoded = (patch: unknown): string =>
  Buffer.from(typeof patch === "string" ? patch : JSON.stringify(patch)).toString("base64");
