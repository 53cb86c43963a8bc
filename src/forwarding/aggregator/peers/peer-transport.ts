/**
 * Connections to peers. Source: `BuildPeerProxy` in
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/peer.go.
 */
import type net from "node:net";
import { createSecureContext, type SecureContext } from "node:tls";
import { connect } from "../../../webhook/connect.ts";
import type { Address } from "../../../webhook/contract.ts";
import type { ProxyCertificate } from "../transports.ts";

/** The name that the certificates of all servers have, whatever their addresses. */
const serverName = "kubernetes.default.svc";

interface Trust {
  /** PEM of the authorities of peers. */
  readonly authorities: string;
  readonly certificate: ProxyCertificate | undefined;
}

/** Opens connections. @throws WebhookError of kind `connect`, `tls` or `timeout`, or that of the signal */
export type ConnectToPeer = (address: Address, signal: AbortSignal) => Promise<net.Socket>;

/** @param current returns the current files */
export function peerTransport(current: () => Trust): ConnectToPeer {
  let built: (Trust & { readonly context: SecureContext }) | undefined;
  return (address, signal) => {
    const { authorities: ca, certificate } = current();
    if (built?.authorities !== ca || built.certificate !== certificate) {
      const context = createSecureContext({ ca, ...certificate, allowPartialTrustChain: true });
      built = { authorities: ca, certificate, context };
    }
    const tls = { context: built.context, serverName, insecureSkipTlsVerify: false, ca };
    return connect({ ...address, signal, tls });
  };
}
