/** Registers webhooks with a server. */
import { randomUUID } from "node:crypto";
import type { TestClients } from "../contract.ts";
import { expectOk } from "../expect-ok.ts";
import { type WebhookAuthority, webhookAuthority } from "./authority.ts";
import { openBridge, type ReviewFunction } from "./bridge.ts";
import { type CheckedWebhook, checkWebhook, webhookEntry } from "./check-webhook.ts";
import type { AdmissionHandler, ConversionHandler, TestWebhook, WebhookSpec } from "./contract.ts";
import { forwardTo, isLoopback } from "./forward.ts";
import { admissionFunction, conversionFunction } from "./handle-review.ts";
import type { WebhookTarget } from "./target.ts";
import { waitForListener } from "./wait-for-listener.ts";
import { WebhookSpecError } from "./webhook-spec-error.ts";

/** The webhooks of a server. */
export interface Webhooks {
  /** Signs the certificates of webhooks in other processes. */
  readonly authority: WebhookAuthority;
  /**
   * Registers a webhook, and waits until the server calls it.
   * @throws WebhookSpecError when a field is not valid
   * @throws Error when the server rejects the configuration, or the target does not listen
   */
  add(spec: WebhookSpec, target: WebhookTarget | AdmissionHandler | ConversionHandler): Promise<TestWebhook>;
  list(): readonly TestWebhook[];
  /** Closes the listener; configurations stay. */
  close(): Promise<void>;
}

/** What webhooks need of a server. */
export interface WebhookNeeds {
  readonly fetch: TestClients["fetch"];
  /** Resolves when the definitions in the watch cache are served as they are. */
  definitionsServed(): Promise<void>;
}

/** Each is called for requests. */
const webhooksMax = 100;
const registration = "/apis/admissionregistration.k8s.io/v1";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Creates the webhooks of a server, without any. */
export function openWebhooks(needs: WebhookNeeds): Webhooks {
  const authority = webhookAuthority();
  const bridge = openBridge(authority);
  const active = new Map<string, TestWebhook>();
  return {
    authority,
    list: () => [...active.values()],
    close: () => bridge.close(),
    async add(spec, target) {
      const checked = checkWebhook(spec);
      if (active.size >= webhooksMax) throw new WebhookSpecError("webhook", `there are ${webhooksMax} already`);
      if (checked.type === "conversion" && active.has(checked.spec.definition))
        throw new WebhookSpecError("conversion.definition", "has a webhook already");
      const id = `test-webhook-${randomUUID().slice(0, 8)}`;
      const forward = typeof target === "function" ? functionOf(checked, target) : forwarded(target);
      const url = forward === undefined ? (target as WebhookTarget).url : await bridge.add(id, forward);
      try {
        if (typeof target !== "function") await waitForListener(target, authority);
        const ca = forward === undefined ? (target as WebhookTarget).caBundle : undefined;
        const caBundle = Buffer.from(ca ?? (await authority.ca())).toString("base64");
        const registered = await register(checked, id, { url, caBundle }, needs);
        const webhook: TestWebhook = {
          ...registered,
          url,
          async remove() {
            if (!active.delete(registered.name)) return;
            await registered.remove();
            bridge.remove(id);
          },
        };
        active.set(webhook.name, webhook);
        return webhook;
      } catch (error) {
        bridge.remove(id);
        throw error;
      }
    },
  };
}

function functionOf({ type }: CheckedWebhook, handler: AdmissionHandler | ConversionHandler): ReviewFunction {
  if (type === "conversion") return conversionFunction(handler as ConversionHandler);
  return admissionFunction(handler as AdmissionHandler, type === "mutating");
}

/** @returns undefined for targets that the server can call itself @throws WebhookSpecError */
function forwarded({ url }: WebhookTarget): ReviewFunction | undefined {
  if (!URL.canParse(url)) throw new WebhookSpecError("url", "must be a URL, such as http://127.0.0.1:8080/validate");
  const parsed = new URL(url);
  if (parsed.protocol === "https:") return undefined;
  if (parsed.protocol !== "http:" || !isLoopback(parsed))
    throw new WebhookSpecError("url", "must begin with https://, or with http:// and a host of this machine");
  return forwardTo(parsed);
}

interface ClientConfig {
  readonly url: string;
  readonly caBundle: string;
}

type Registered = Omit<TestWebhook, "url">;

function register(
  checked: CheckedWebhook,
  id: string,
  clientConfig: ClientConfig,
  needs: WebhookNeeds,
): Promise<Registered> {
  return checked.type === "conversion"
    ? registerConversion(checked.spec, clientConfig, needs)
    : registerAdmission(checked, id, clientConfig, needs);
}

async function registerAdmission(
  { type, spec }: Exclude<CheckedWebhook, { type: "conversion" }>,
  id: string,
  clientConfig: ClientConfig,
  { fetch }: WebhookNeeds,
): Promise<Registered> {
  const kind = type === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  const collection = `${registration}/${kind.toLowerCase()}s`;
  const body = { metadata: { name: id }, webhooks: [webhookEntry(spec, id, clientConfig)] };
  await expectOk(fetch(`${collection}?fieldValidation=Strict`, { method: "POST", body }));
  // A consistent list waits until the watch cache has the object, and admission reads that one.
  await expectOk(fetch(`${collection}?fieldSelector=metadata.name%3D${id}`));
  return {
    name: id,
    kind,
    remove: async () => void (await expectOk(fetch(`${collection}/${id}`, { method: "DELETE" }), 404)),
  };
}

async function registerConversion(
  { definition, versions }: Extract<CheckedWebhook, { type: "conversion" }>["spec"],
  clientConfig: ClientConfig,
  needs: WebhookNeeds,
): Promise<Registered> {
  const path = `${definitions}/${encodeURIComponent(definition)}`;
  const { spec } = await expectOk(needs.fetch(path));
  const webhook = { clientConfig, conversionReviewVersions: versions };
  await convertBy({ strategy: "Webhook", webhook }, path, needs);
  const before = { webhook: null, ...spec.conversion };
  return {
    name: definition,
    kind: "CustomResourceDefinition",
    remove: () => convertBy(before, path, needs, 404),
  };
}

/** @param accepted a status that is no error */
async function convertBy(conversion: object, path: string, needs: WebhookNeeds, accepted?: number): Promise<void> {
  await expectOk(needs.fetch(path, { method: "PATCH", body: { spec: { conversion } } }), accepted);
  await expectOk(needs.fetch(definitions)); // As for configurations.
  await new Promise(setImmediate); // The watch cache delivers its events at the end of the turn.
  await needs.definitionsServed();
}
