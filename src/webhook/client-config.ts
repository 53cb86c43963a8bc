/**
 * The endpoints of webhooks that objects configure. Source: client.go and authentication.go in
 * k8s.io/apiserver@v0.36.0/pkg/util/webhook.
 */
import { posix } from "node:path";
import type { Address, LoopbackCredentials, WebhookEndpoint } from "./contract.ts";
import type { ServiceResolver } from "./service-resolver.ts";

/** The field `clientConfig` of a webhook: either a URL or a Service. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64. */
  readonly caBundle?: string;
}

/** What the endpoints of webhooks depend on. */
export interface EndpointNeeds {
  readonly resolve: ServiceResolver;
  readonly loopback: LoopbackCredentials;
}

const defaultPort = 443;
/** The Service `kubernetes`, by which webhooks are paths of this server. */
const ownService = /^https:\/\/kubernetes\.default\.svc(?::443)?(?:\/|$)/;

/**
 * Returns the endpoint of a webhook. The Service `kubernetes` gets the server's own credentials.
 *
 * @throws Error for a configuration without address
 */
export function endpointOf(config: WebhookClientConfig, { resolve, loopback }: EndpointNeeds): WebhookEndpoint {
  const { ca, ...endpoint } = configuredEndpoint(config, resolve);
  if (ownService.test(endpoint.url)) return { ...endpoint, ...loopback };
  return { ...endpoint, ...(ca !== undefined && { ca }) };
}

function configuredEndpoint(
  { url, service, caBundle = "" }: WebhookClientConfig,
  resolve: ServiceResolver,
): WebhookEndpoint {
  const bundle = Buffer.from(caBundle, "base64").toString();
  const ca = bundle.trim() === "" ? {} : { ca: bundle };
  if (service === undefined) {
    if (url === undefined || url === "") throw new Error("webhook configuration must have either service or URL");
    const [, origin = "", path = ""] = /^([^:]+:\/\/[^/]*)(.*)$/s.exec(url) ?? [];
    return { url: origin + cleanPath(path), ...ca };
  }
  const { name = "", namespace = "", port = defaultPort, path = "" } = service;
  const host = `${name}.${namespace}.svc`;
  return {
    url: `https://${host}:${port}${cleanPath(path)}`,
    serverName: host,
    resolve: () => resolve(namespace, name, port),
    ...ca,
  };
}

/**
 * Removes repeated slashes, dots, and the slash at the end, as path.Join does for
 * `DefaultVersionedAPIPath` in k8s.io/client-go@v0.36.0/rest/url_utils.go. envtest configures
 * `https://127.0.0.1:port//path`, and Go's servers redirect requests of such paths.
 */
function cleanPath(path: string): string {
  const joined = posix.join("/", path);
  return joined.length > 1 && joined.endsWith("/") ? joined.slice(0, -1) : joined;
}

/** Returns the host without brackets and the port by which credentials are selected. */
export function addressOf({ url, serverName }: WebhookEndpoint): Address {
  const { hostname, port } = new URL(url);
  return { host: serverName ?? hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port) };
}
