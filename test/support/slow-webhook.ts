/** A webhook that allows a review only when the test says so. */
import { startWebhookServer, type WebhookReply, type WebhookServer } from "./webhook-server.ts";

export interface SlowWebhook extends Pick<WebhookServer, "url" | "ca" | "close"> {
  /** Functions that allow the reviews that wait, in their order. */
  readonly waiting: (() => void)[];
}

export async function startSlowWebhook(): Promise<SlowWebhook> {
  const waiting: (() => void)[] = [];
  const { url, ca, close } = await startWebhookServer(
    ({ body }) =>
      new Promise<WebhookReply>((resolve) => {
        const { apiVersion, kind, request } = body;
        waiting.push(() => resolve({ apiVersion, kind, response: { uid: request.uid, allowed: true } }));
      }),
  );
  return { url, ca, close, waiting };
}
