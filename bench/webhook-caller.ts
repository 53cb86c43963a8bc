/**
 * Calls a webhook as the API server of webhook-faults.ts does, but from a process of its own: what
 * that costs other requests is the share of the processors, not the work of the server. Arguments:
 * the URL, the authority as PEM, the number of loops, their pause in milliseconds.
 */
import { setTimeout as delay } from "node:timers/promises";
import { webhookClient } from "../src/webhook/client.ts";
import { WebhookError } from "../src/webhook/contract.ts";
import { serveParent } from "./child.ts";

const [url = "", ca = "", loops, pauseMs] = process.argv.slice(2);
const client = webhookClient({ url, ca }, { answerBytesMax: 8 << 20 });
const review = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: { uid: "direct", object: {} },
});

async function callForever(): Promise<never> {
  for (;;) {
    try {
      await client.post(review, { timeoutMs: 1000 });
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error;
    }
    await delay(Number(pauseMs));
  }
}

process.once("SIGTERM", () => process.exit(0));
serveParent({});
for (let started = 0; started < Number(loops); started++) void callForever();
