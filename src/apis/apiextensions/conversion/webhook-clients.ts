/**
 * Clients of conversion webhooks, in an LRU cache.
 *
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/client.go
 */
import { type ClientOptions, webhookClient } from "../../../webhook/client.ts";
import type { WebhookClient, WebhookEndpoint } from "../../../webhook/contract.ts";
import type { ServiceResolver } from "../../../webhook/service-resolver.ts";
import type { WebhookClientConfig } from "../definition.ts";
import type { ConversionObserver } from "./contract.ts";

/** The webhook clients of a server. */
export interface ConversionWebhooks {
  /** @throws Error for an invalid configuration, such as `unable to load root certificates: …` */
  client(config: WebhookClientConfig): WebhookClient;
  readonly observer: ConversionObserver;
  /** Closes all connections. */
  close(): void;
}

interface ConversionWebhooksOptions extends ClientOptions {
  readonly resolve: ServiceResolver;
  readonly observer: ConversionObserver;
}

/** Size of a response. A request contains at most 256 KiB of objects, or one object. */
const answerBytesMax = 8 << 20;

/** Number of cached clients. The connections of an evicted client stay open until they are idle. */
const clientsMax = 200;

/** Opens the cache; `close` closes it. */
export function openConversionWebhooks({
  resolve,
  observer,
  ...options
}: ConversionWebhooksOptions): ConversionWebhooks {
  /** By configuration; the most recently used one is last. */
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
