/** The subresource `proxy` of pods, services and nodes. */

import { createSecureContext, type SecureContext } from "node:tls";
import { realClock } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { connect } from "../../webhook/connect.ts";
import { WebhookError } from "../../webhook/contract.ts";
import type { Connect } from "../contract.ts";
import { findProxyableAddress } from "./check-address.ts";
import type { AddressPolicy, OpenBackend, ProxyTarget } from "./contract.ts";
import { checkPort, type Location, nameOf, podLocation, serviceLocation } from "./locations.ts";
import { proxyRequest } from "./proxy-request.ts";
import { joinPaths } from "./rewrite-url.ts";

/** The kubelet of a node. */
export interface NodeKubelet {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** Connects to it; checks the address, too. */
  readonly open: OpenBackend;
}

/** @throws ApiError 404 if the node does not exist, 500 if it has no address */
export type FindNodeKubelet = (registry: RegistryContext, node: string) => Promise<NodeKubelet>;

interface ProxyParts {
  readonly policy: AddressPolicy;
  readonly findKubelet: FindNodeKubelet;
  /** Of each direction of connections that have changed their protocol; 0: unlimited. */
  readonly bytesPerSecondMax: number;
  /** Returns numbers from 0 up to, but not including, 1. */
  readonly random?: () => number;
}

/** The handlers of the subresource, by resource. */
export interface ResourceProxies {
  readonly pods: Connect;
  readonly services: Connect;
  readonly nodes: Connect;
}

/**
 * Creates the handlers. Like upstream, they do not verify certificates, except those of kubelets as
 * the kubelet's options say.
 */
export function resourceProxies({
  policy,
  findKubelet,
  bytesPerSecondMax,
  random = Math.random,
}: ProxyParts): ResourceProxies {
  const secure = createSecureContext();
  const through =
    (locate: typeof podLocation): Connect =>
    async (context, { catalog, clock }, options) => {
      const { namespace, name } = context.info;
      const location = await locate({ catalog, policy, random }, namespace, name);
      const target = { ...targetOf(location, secure), path: pathOf(options) };
      return proxyRequest(context, { target, clock, isWrapped: true, bytesPerSecondMax });
    };
  return {
    pods: through(podLocation),
    services: through(serviceLocation),
    async nodes(context, registry, options) {
      const { scheme, name, port } = nameOf("node", context.info.name);
      checkPort(port, "node", context.info.name);
      const kubelet = await findKubelet(registry, name);
      const address = await findProxyableAddress(kubelet.host, policy);
      const target =
        port === "" || port === String(kubelet.port)
          ? { scheme: "https" as const, host: formatHost(kubelet.host, String(kubelet.port)), open: kubelet.open }
          : targetOf({ scheme: scheme || "http", address, port }, secure, kubelet.host);
      return proxyRequest(context, {
        target: { ...target, path: pathOf(options) },
        clock: realClock(registry.clock),
        isWrapped: true,
        bytesPerSecondMax,
      });
    },
  };
}

/** The path behind `proxy`, without `.` and `..`. */
function pathOf(options: KubeObject | undefined): string {
  return joinPaths("", (options as { readonly path?: string } | undefined)?.path ?? "");
}

/** @param host the name that was resolved to the address, if it was one */
function targetOf(
  { scheme, address, port }: Location,
  secure: SecureContext,
  host = address,
): Omit<ProxyTarget, "path"> {
  const number = port === "" ? defaultPorts[scheme] : Number(port);
  const tls = { context: secure, serverName: host, insecureSkipTlsVerify: true };
  return {
    scheme,
    host: formatHost(host, port),
    async open(signal) {
      if (number > 0xffff) throw new WebhookError("connect", `dial tcp: address ${port}: invalid port`);
      return connect({ host: address, port: number, signal, ...(scheme === "https" && { tls }) });
    },
  };
}

const defaultPorts = { http: 80, https: 443 } as const;

/** Joins a host and a port, which can be empty. */
function formatHost(name: string, port: string): string {
  const host = name.includes(":") ? `[${name}]` : name;
  return port === "" ? host : `${host}:${port}`;
}
