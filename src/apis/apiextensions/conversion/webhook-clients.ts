/**
 * Clients of conversion webhooks, in an LRU cache.
 *
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/client.go
 */
import { type ClientOptions, webhookClient } from "../../../webhook/client.ts";
import { type EndpointNeeds, endpointOf, type WebhookClientConfig } from "../../../webhook/client-config.ts";
import type { WebhookClient } from "../../../webhook/contract.ts";
import type { ConversionObserver } from "../../../webhook/conversion-observer.ts";

/** The webhook clients of a server. */
export interface ConversionWebhooks {
  /** @throws Error for an invalid configuration, such as `unable to load root certificates: …` */
  client(config: WebhookClientConfig): WebhookClient;
  readonly observer: ConversionObserver;
  /** Closes all connections. */
  close(): void;
}

interface ConversionWebhooksOptions extends ClientOptions, EndpointNeeds {
  readonly observer: ConversionObserver;
}

/** Size of a response. A request contains at most 256 KiB of objects, or one object. */
const answerBytesMax = 8 << 20;

/** Number of cached clients. The connections of an evicted client stay open until they are idle. */
const clientsMax = 200;

/** Opens the cache; `close` closes it. */
export function openConversionWebhooks({
  resolve,
  loopback,
  observer,
  ...options
}: ConversionWebhooksOptions): ConversionWebhooks {
  /** By configuration; the most recently used one is last. */
  const clients = new Map<string, WebhookClient>();
  const open = (config: WebhookClientConfig): WebhookClient =>
    webhookClient(endpointOf(config, { resolve, loopback }), { answerBytesMax, ...options });
  return {
    observer,
    client(config) {
      const key = JSON.stringify(config);
      const client = clients.get(key) ?? open(config);
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
