import { ApiError, badRequest } from "../../apimachinery/errors.ts";
import { isObject } from "../../lib/json/values.ts";
import type { TestTools } from "../tools.ts";
import type { TestWebhook, WebhookSpec } from "../webhooks/contract.ts";
import { asBadRequest } from "./as-bad-request.ts";
import type { ControlRoute } from "./contract.ts";

/**
 * `POST /testing/webhooks` registers a webhook of another process, `GET` lists them, `DELETE /testing/webhooks/NAME`
 * removes one.
 */
export function webhookRoutes(tools: TestTools): readonly ControlRoute[] {
  return [
    {
      method: "GET",
      path: "webhooks",
      handle: async () => ({ json: { webhooks: (await tools.webhooks()).list().map(shown) } }),
    },
    {
      method: "POST",
      path: "webhooks",
      async handle({ body, signal }) {
        const { spec, url, caBundle } = readWebhook(await body());
        const webhooks = await tools.webhooks();
        const target = { url, signal, ...(caBundle !== undefined && { caBundle }) };
        const added = await asBadRequest(() => webhooks.add(spec, target));
        if (signal.aborted) {
          await added.remove();
          throw badRequest("the client has gone");
        }
        return { status: 201, json: shown(added) };
      },
    },
    {
      method: "DELETE",
      path: "webhooks/*",
      async handle({ parameters: [name] }) {
        const found = (await tools.webhooks()).list().find((one) => one.name === name);
        if (found === undefined)
          throw new ApiError({ code: 404, reason: "NotFound", message: "there is no such webhook" });
        await asBadRequest(() => found.remove());
        return { json: shown(found) };
      },
    },
  ];
}

function shown({ name, kind, url }: TestWebhook): object {
  return { name, kind, url };
}

interface NewWebhook {
  readonly spec: WebhookSpec;
  readonly url: string;
  readonly caBundle: string | undefined;
}

/** The rest is checked with the webhook. @throws ApiError 400 */
function readWebhook(body: unknown): NewWebhook {
  if (!isObject(body)) throw badRequest("the body must be an object with the field url, and with the webhook");
  const { url, caBundle, ...spec } = body;
  if (typeof url !== "string") throw badRequest("url: must be a string");
  if (caBundle !== undefined && (typeof caBundle !== "string" || !caBundle.includes("-----BEGIN CERTIFICATE-----")))
    throw badRequest("caBundle: must be certificates as PEM");
  return { spec: spec as unknown as WebhookSpec, url, caBundle };
}
