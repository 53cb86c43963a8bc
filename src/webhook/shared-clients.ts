/** Clients of webhooks, shared by all webhooks with the same address and certificates. */
import { type ClientOptions, webhookClient } from "./client.ts";
import { addressOf, type EndpointNeeds, endpointOf, type WebhookClientConfig } from "./client-config.ts";
import type { Address, PostOptions, WebhookAnswer, WebhookClient, WebhookEndpoint } from "./contract.ts";

/** The use of a client by one webhook. */
export interface ClientUse {
  /**
   * As `WebhookClient.post`.
   *
   * @throws InvalidClientConfig if there can be no client
   */
  post(body: Buffer, options: PostOptions): Promise<WebhookAnswer>;
  /** Ends the use. After the last one, the connections are closed when no call is in progress. */
  release(): void;
}

/** The clients of a server. */
export interface SharedClients {
  use(config: WebhookClientConfig): ClientUse;
  /** Closes all connections; current calls fail. */
  close(): void;
}

/** The configuration of a client is invalid. */
export class InvalidClientConfig extends Error {}

interface SharedOptions extends ClientOptions, EndpointNeeds {
  /** Returns the credentials for a webhook of another server. @throws Error when they cannot be read */
  readonly findCredentials: (address: Address) => Promise<Partial<WebhookEndpoint>>;
}

interface Shared {
  uses: number;
  calls: number;
  client: Promise<WebhookClient> | undefined;
}

/** Creates clients at their first call. */
export function sharedClients({ resolve, loopback, findCredentials, ...options }: SharedOptions): SharedClients {
  const all = new Map<string, Shared>();
  const open = async (config: WebhookClientConfig): Promise<WebhookClient> => {
    try {
      const endpoint = endpointOf(config, { resolve, loopback });
      const credentials = endpoint.pinned === undefined ? await findCredentials(addressOf(endpoint)) : {};
      return webhookClient({ ...credentials, ...endpoint }, options);
    } catch (error) {
      throw new InvalidClientConfig(error instanceof Error ? error.message : String(error));
    }
  };
  const closeUnused = (key: string, shared: Shared): void => {
    if (shared.uses > 0 || shared.calls > 0) return;
    closeOpened(shared);
    if (all.get(key) === shared) all.delete(key);
  };
  return {
    use(config) {
      const key = JSON.stringify(config);
      const shared = all.get(key) ?? { uses: 0, calls: 0, client: undefined };
      all.set(key, shared);
      shared.uses++;
      return {
        async post(body, postOptions) {
          shared.calls++;
          try {
            const client = await openOnce(shared, () => open(config));
            return await client.post(body, postOptions);
          } finally {
            shared.calls--;
            closeUnused(key, shared);
          }
        },
        release() {
          shared.uses--;
          closeUnused(key, shared);
        },
      };
    },
    close() {
      for (const shared of all.values()) closeOpened(shared);
      all.clear();
    },
  };
}

/** A client that could not be opened is opened again for the next call. */
function openOnce(shared: Shared, open: () => Promise<WebhookClient>): Promise<WebhookClient> {
  shared.client ??= open().catch((error: unknown) => {
    shared.client = undefined;
    throw error;
  });
  return shared.client;
}

function closeOpened({ client }: Shared): void {
  client?.then(
    (opened) => opened.close(),
    () => {}, // It was never opened, which its callers have seen.
  );
}
