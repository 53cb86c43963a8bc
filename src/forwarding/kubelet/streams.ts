/**
 * Streams to containers: `exec`, `attach` and `portforward`. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/registry/core/pod/rest/subresources.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import type { RequestState } from "../../request/context.ts";
import { proxyRequest } from "../proxy/proxy-request.ts";
import type { KubeletObserver, StreamKind } from "./contract.ts";
import type { KubeletClient } from "./kubelet-client.ts";
import { hostOf, streamLocation } from "./pod-location.ts";
import { isTranslated, translateStreams } from "./stream-translator.ts";
import { isTunnel, tunnelStreams } from "./tunnel.ts";

interface StreamParts {
  readonly client: KubeletClient;
  readonly observer: KubeletObserver;
  readonly clock: Clock;
  /** Of each direction of a connection, or of each stream that this server translates; 0: unlimited. */
  readonly bytesPerSecondMax: number;
}

/** The gates by which this server serves WebSockets of current clients itself. */
const gateOf = {
  exec: "TranslateStreamCloseWebsocketRequests",
  attach: "TranslateStreamCloseWebsocketRequests",
  portforward: "PortForwardWebsockets",
} as const;

/**
 * Serves a request that authorization and admission allow: WebSockets of current clients itself, over SPDY to the
 * kubelet; other upgrades by forwarding them.
 *
 * @param connection PodExecOptions, PodAttachOptions or PodPortForwardOptions
 * @throws ApiError 400, 404, 500
 */
export async function serveStreams(
  context: RequestState,
  registry: RegistryContext,
  kind: StreamKind,
  connection: KubeObject,
  parts: StreamParts,
): Promise<void> {
  const { client, observer, clock, bytesPerSecondMax } = parts;
  const location = await streamLocation(context, registry, kind, connection, client.options);
  const open = client.opener(location.kubelet);
  if (registry.gates.enabled(gateOf[kind])) {
    const isKubelets = location.kubelet.servesWebSockets;
    observer.streamsRequested(kind, isKubelets ? "proxied_to_kubelet" : "translated_at_apiserver");
    const upgrade = isKubelets ? undefined : context.exchange.upgrade;
    if (upgrade !== undefined && kind === "portforward" && isTunnel(context.exchange, upgrade))
      return tunnelStreams(context, upgrade, { ...parts, location, open });
    if (upgrade !== undefined && kind !== "portforward" && isTranslated(context.exchange, upgrade))
      return translateStreams(context, upgrade, connection, { ...parts, location, open });
  }
  const target = {
    scheme: "https",
    host: hostOf(location),
    path: location.path,
    upgradeQuery: location.query,
    open,
  } as const;
  return proxyRequest(context, { target, clock, isWrapped: false, requiresUpgrade: true, bytesPerSecondMax });
}
