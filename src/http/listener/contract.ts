/**
 * What the listener observes, and its TLS options.
 * Source: the flags `--tls-*` in Kubernetes docs, "kube-apiserver".
 */
import type { Exchange } from "../../request/exchange.ts";

/** Is notified of the work of requests, to find one that blocks the event loop. Must not throw. */
export interface WorkObserver {
  /** The headers of the request have arrived, or its whole body. */
  begins(exchange: Exchange): void;
  /** The response begins. */
  answers(exchange: Exchange): void;
}

/** A request to use its HTTP/1.1 connection for another protocol. */
export interface RequestedUpgrade {
  readonly method: string;
  /** Path and query as sent. */
  readonly target: string;
  /** In lower case, such as `websocket` or `spdy/3.1`. */
  readonly protocol: string;
}

/** TLS options of the listener. */
export interface TlsOptions {
  /** `VersionTLS12`, `VersionTLS13`, or older versions, which mean the first. Empty: the first. */
  readonly minVersion: string;
  /** Names of Go's crypto/tls; those of TLS 1.3 have no effect, as in Go. Empty: defaults. */
  readonly cipherSuites: readonly string[];
  /** Numbers of Go's crypto/tls. Empty: defaults. */
  readonly curvePreferences: readonly number[];
  /** Certificates for specific names or addresses. */
  readonly named: readonly NamedCertificateFiles[];
}

/** The files of a certificate for specific names. */
export interface NamedCertificateFiles {
  /** PEM file with the certificate and its intermediates. */
  readonly certFile: string;
  /** PEM file with the key of `certFile`. */
  readonly keyFile: string;
  /** Name patterns and addresses; empty: those in the certificate. */
  readonly names: readonly string[];
}
