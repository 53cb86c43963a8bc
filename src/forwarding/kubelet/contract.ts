/**
 * The contract of connections to kubelets.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubelet/client/kubelet_client.go.
 */

/** How this server connects to kubelets. */
export interface KubeletOptions {
  /**
   * PEM file with the authorities of the kubelets' serving certificates. Undefined: like upstream, certificates are
   * not verified.
   */
  readonly certificateAuthorityFile: string | undefined;
  /** PEM file of the client certificate. */
  readonly clientCertificateFile: string | undefined;
  /** The key of `clientCertificateFile`. */
  readonly clientKeyFile: string | undefined;
  /** The types of node addresses, the most preferred first. */
  readonly preferredAddressTypes: readonly string[];
  /** The port of nodes whose status has none. */
  readonly port: number;
  /** Whether the kubelets of logs and streams must have addresses that proxies may connect to. */
  readonly checksAddresses: boolean;
}

/** Where a kubelet listens. */
export interface KubeletAddress {
  /** A name or an address. */
  readonly host: string;
  readonly port: number;
  /** Whether it serves WebSockets of `v5.channel.k8s.io` itself. */
  readonly servesWebSockets: boolean;
}

/** A request to a kubelet. */
export interface KubeletLocation {
  readonly kubelet: KubeletAddress;
  /** Without escapes; it needs none, because it consists of names. */
  readonly path: string;
  /** Escaped, without its question mark. */
  readonly query: string;
}

/** Subresources that open streams to containers. */
export type StreamKind = "exec" | "attach" | "portforward";

/** Receives what metrics count. */
export interface KubeletObserver {
  /** A log is requested. */
  logRequested(verification: "enforce_tls" | "skip_tls_allowed"): void;
  /** The kubelet's certificate was not valid. */
  logVerificationFailed(): void;
  /** Streams are requested; `proxyType` is who serves a WebSocket. */
  streamsRequested(kind: StreamKind, proxyType: "proxied_to_kubelet" | "translated_at_apiserver"): void;
  /** A WebSocket was translated to SPDY, with the status of the outcome. */
  translated(status: number): void;
  /** A WebSocket carries SPDY, or a kubelet has answered with another status. */
  tunneled(status: number): void;
}
