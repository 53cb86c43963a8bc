/** The subresource `proxy` of pods and services. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Connect } from "../http/endpoints/subresources.ts";
import { connect } from "../webhook/connect.ts";
import { WebhookError } from "../webhook/contract.ts";
import type { AddressPolicy, ProxyTarget } from "./contract.ts";
import { type Location, podLocation, serviceLocation } from "./locations.ts";
import { proxyRequest } from "./proxy-request.ts";
import { joinPaths } from "./rewrite-url.ts";

interface ProxyParts {
  readonly policy: AddressPolicy;
  /** Returns numbers from 0 up to, but not including, 1. */
  readonly random?: () => number;
}

/** The handlers of the subresource, by resource. */
export interface ResourceProxies {
  readonly pods: Connect;
  readonly services: Connect;
}

/** Creates the handlers. Like upstream, they do not verify the certificates of pods. */
export function resourceProxies({ policy, random = Math.random }: ProxyParts): ResourceProxies {
  const secure = createSecureContext();
  const through =
    (locate: typeof podLocation): Connect =>
    async (context, { catalog }, options) => {
      const { namespace, name } = context.info;
      const location = await locate({ catalog, policy, random }, namespace, name);
      const { path = "" } = options as KubeObject & { readonly path?: string };
      const target = { ...targetOf(location, secure), path: joinPaths("", path) };
      return proxyRequest(context, { target, isWrapped: true });
    };
  return { pods: through(podLocation), services: through(serviceLocation) };
}

function targetOf({ scheme, address, port }: Location, secure: SecureContext): Omit<ProxyTarget, "path"> {
  const number = port === "" ? defaultPorts[scheme] : Number(port);
  const tls = { context: secure, serverName: address, insecureSkipTlsVerify: true };
  return {
    scheme,
    host: formatHost(address, port),
    async open(signal) {
      if (number > 0xffff) throw new WebhookError("connect", `dial tcp: address ${port}: invalid port`);
      return connect({ host: address, port: number, signal, ...(scheme === "https" && { tls }) });
    },
  };
}

const defaultPorts = { http: 80, https: 443 } as const;

/** Joins an address and a port, which can be empty. */
function formatHost(address: string, port: string): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return port === "" ? host : `${host}:${port}`;
}
