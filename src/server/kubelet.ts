/** Builds the connections to kubelets. The code that serves them is loaded with the first request. */
import { realClock } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Connect } from "../forwarding/contract.ts";
import type { KubeletObserver, StreamKind } from "../forwarding/kubelet/contract.ts";
import { openKubeletClient } from "../forwarding/kubelet/kubelet-client.ts";
import type { FindNodeKubelet } from "../forwarding/proxy/resource-proxies.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";

interface KubeletNeeds {
  readonly observer: KubeletObserver;
  readonly closers: Closers;
}

interface ServerKubelets {
  /** By `resource/subresource` of the core group. */
  readonly connections: Readonly<Record<string, Connect>>;
  /** For the proxies to nodes. */
  readonly findKubelet: FindNodeKubelet;
}

/**
 * @throws Error if a file of the options cannot be read or is not valid
 */
export async function openKubelet(
  {
    kubelet,
    proxiedAddresses: addresses,
    maxConnectionBytesPerSec: bytesPerSecondMax,
    clock: serverClock,
    logger,
  }: ServerOptions,
  { observer, closers }: KubeletNeeds,
): Promise<ServerKubelets> {
  const clock = realClock(serverClock);
  const client = await openKubeletClient(kubelet, { clock, logger, addresses });
  closers.add(() => client.close());
  client.follow();
  const streams =
    (kind: StreamKind): Connect =>
    async (context, registry, connection) => {
      const { serveStreams } = await import("../forwarding/kubelet/streams.ts");
      const parts = { client, observer, clock, bytesPerSecondMax };
      await serveStreams(context, registry, kind, connection as KubeObject, parts);
    };
  const connections: ServerKubelets["connections"] = {
    "pods/log": async (context, registry) => {
      const { serveLog } = await import("../forwarding/kubelet/log.ts");
      await serveLog(context, registry, client, observer);
    },
    "pods/exec": streams("exec"),
    "pods/attach": streams("attach"),
    "pods/portforward": streams("portforward"),
  };
  return {
    connections,
    async findKubelet(registry, node) {
      const { findKubelet } = await import("../forwarding/kubelet/find-kubelet.ts");
      const found = await findKubelet(registry, node, client.options, "nodes");
      return { ...found, open: client.opener(found, { isProxied: true }) };
    },
  };
}
