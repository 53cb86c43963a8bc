/** Clients of the webhooks that definitions name, kept for as long as they are among the last that were used. Source: apiserver's util/webhook, ClientManager */
import { type ClientOptions, webhookClient } from "../../../webhook/client.ts";
import type { WebhookClient, WebhookEndpoint } from "../../../webhook/contract.ts";
import type { ServiceResolver } from "../../../webhook/service-resolver.ts";
import type { WebhookClientConfig } from "../definition.ts";
import type { ConversionObserver } from "./contract.ts";

/** What conversions by webhook need of the server. */
export interface ConversionWebhooks {
  /** @throws Error when the configuration is none: `unable to load root certificates: …` */
  client(config: WebhookClientConfig): WebhookClient;
  readonly observer: ConversionObserver;
  /** Ends all connections. */
  close(): void;
}

export interface ConversionWebhooksOptions extends ClientOptions {
  readonly resolve: ServiceResolver;
  readonly observer: ConversionObserver;
}

/** Of what comes back; of each review at most 256 KiB, or one object, are sent. */
const answerBytesMax = 8 << 20;

/** Those of one that is forgotten are kept until they idle. */
const clientsMax = 200;

export function openConversionWebhooks({
  resolve,
  observer,
  ...options
}: ConversionWebhooksOptions): ConversionWebhooks {
  /** By configuration, the last used last. */
  const clients = new Map<string, WebhookClient>();
  return {
    observer,
    client(config) {
      const key = JSON.stringify(config);
      const client = clients.get(key) ?? webhookClient(endpointOf(config, resolve), { answerBytesMax, ...options });
      clients.delete(key);
      clients.set(key, client);
      if (clients.size > clientsMax) clients.delete(clients.keys().next().value as string);
      return client;
    },
    close() {
      for (const client of clients.values()) client.close();
      clients.clear();
    },
  };
}

const defaultPort = 443;

function endpointOf({ url, service, caBundle = "" }: WebhookClientConfig, resolve: ServiceResolver): WebhookEndpoint {
  const bundle = Buffer.from(caBundle, "base64").toString();
  const ca = bundle.trim() === "" ? {} : { ca: bundle };
  if (service === undefined) {
    if (url === undefined || url === "") throw new Error("webhook configuration must have either service or URL");
    return { url, ...ca };
  }
  const { name = "", namespace = "", port = defaultPort, path = "" } = service;
  const host = `${name}.${namespace}.svc`;
  const rooted = path === "" || path.startsWith("/") ? path : `/${path}`;
  return {
    url: `https://${host}:${port}${rooted}`,
    serverName: host,
    resolve: () => resolve(namespace, name, port),
    ...ca,
  };
}
