/** An admission webhook for both servers: the path of a request says how it is answered. */
import { replyTo, type WebhookAnswer } from "../../test/support/scripted-webhook.ts";
import { startWebhookServer } from "../../test/support/webhook-server.ts";

export interface Webhook {
  /** `https://127.0.0.1:port` */
  readonly url: string;
  /** The authority as base64, as `caBundle` has it. */
  readonly ca: string;
  close(): Promise<void>;
}

/** The path at which the webhook gives this answer. */
export function pathOfAnswer(answer: WebhookAnswer): string {
  return `/${Buffer.from(JSON.stringify(answer)).toString("base64url")}`;
}

export async function startWebhook(): Promise<Webhook> {
  const server = await startWebhookServer((request) => {
    // The list of requests is for tests that read it.
    server.requests.length = 0;
    const [path = ""] = request.path.slice(1).split("?");
    return replyTo(request, JSON.parse(Buffer.from(path, "base64url").toString()) as WebhookAnswer);
  });
  return { url: server.url, ca: Buffer.from(server.ca).toString("base64"), close: () => server.close() };
}
