/** Opens sockets to the address of an endpoint. */
import type net from "node:net";
import { createSecureContext } from "node:tls";
import { connect } from "./connect.ts";
import { type Address, type CertificateObserver, type WebhookEndpoint, WebhookError } from "./contract.ts";

/** Opens a socket. The signal aborts with a WebhookError. */
export type OpenSocket = (signal: AbortSignal, observer?: CertificateObserver) => Promise<net.Socket>;

/**
 * Reads the certificates of an endpoint.
 *
 * @param url the URL of the endpoint, or of a redirect
 * @throws Error when the certificates cannot be read, see `webhookClient`
 */
export function socketOpener(endpoint: WebhookEndpoint, url: URL): OpenSocket {
  const host = hostOf(url);
  const port = Number(url.port || (url.protocol === "http:" ? 80 : 443));
  const tls = url.protocol === "http:" ? undefined : tlsOf(endpoint, host);
  return async (signal, observer) => {
    const address = endpoint.resolve === undefined ? { host, port } : await resolveAddress(endpoint.resolve);
    return connect({ ...address, signal, ...(tls !== undefined && { tls: { ...tls, observer } }) });
  };
}

/** Returns the host without the brackets of IPv6 addresses. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function tlsOf(endpoint: WebhookEndpoint, host: string): NonNullable<Parameters<typeof connect>[0]["tls"]> {
  return {
    context: secureContext(endpoint),
    ca: endpoint.ca,
    serverName: endpoint.serverName ?? host,
    pinned: endpoint.pinned,
    insecureSkipTlsVerify: endpoint.insecureSkipTlsVerify ?? false,
  };
}

function secureContext({ ca, cert, key }: WebhookEndpoint): ReturnType<typeof createSecureContext> {
  if (ca !== undefined && !ca.includes("-----BEGIN "))
    throw new Error("unable to load root certificates: unable to parse bytes as PEM block");
  return createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key }),
    allowPartialTrustChain: true,
  });
}

async function resolveAddress(resolve: () => Promise<Address> | Address): Promise<Address> {
  try {
    return await resolve();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new WebhookError("resolve", error.message);
  }
}
