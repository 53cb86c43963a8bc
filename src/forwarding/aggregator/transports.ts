/**
 * How this server connects to the servers of APIServices. Source: `BuildTransportConfig` in
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/remote/remote_available_controller.go.
 */
import type net from "node:net";
import { createSecureContext } from "node:tls";
import { connect } from "../../webhook/connect.ts";
import type { Address, CertificateObserver } from "../../webhook/contract.ts";
import { readAuthorities } from "./authorities.ts";
import type { RemoteApiService } from "./contract.ts";

/** The client certificate of this server and its key, in PEM. */
export interface ProxyCertificate {
  readonly cert: string;
  readonly key: string;
}

/** How to connect to the server of one APIService. */
export interface Transport {
  /** Two transports with equal keys connect in the same way. */
  readonly key: string;
  /**
   * Opens a TLS connection.
   *
   * @param signal aborts with a WebhookError
   * @param observer notified of flaws of the server's certificates
   * @throws WebhookError of kind `connect`, `tls` or `timeout`, or that of the signal
   */
  connect(address: Address, signal?: AbortSignal, observer?: CertificateObserver): Promise<net.Socket>;
}

/** @returns the certificate, or undefined without one; its identity changes with its content */
type CurrentCertificate = () => ProxyCertificate | undefined;

/** Builds the transports of APIServices. Each is built once for a view and a certificate. */
export class Transports {
  readonly #current: CurrentCertificate;
  #certificate: ProxyCertificate | undefined;
  #built = new WeakMap<RemoteApiService, Transport | Error>();

  constructor(current: CurrentCertificate) {
    this.#current = current;
  }

  /** @throws Error with Go's message when the authorities of the APIService cannot be read */
  of(remote: RemoteApiService): Transport {
    const certificate = this.#current();
    if (certificate !== this.#certificate) {
      this.#certificate = certificate;
      this.#built = new WeakMap();
    }
    let built = this.#built.get(remote);
    if (built === undefined) {
      built = tryBuild(remote, certificate);
      this.#built.set(remote, built);
    }
    if (built instanceof Error) throw built;
    return built;
  }
}

function tryBuild(remote: RemoteApiService, certificate: ProxyCertificate | undefined): Transport | Error {
  try {
    return build(remote, certificate);
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
}

function build(remote: RemoteApiService, certificate: ProxyCertificate | undefined): Transport {
  const { service, insecureSkipTlsVerify, caBundle } = remote;
  const serverName = `${service.name}.${service.namespace}.svc`;
  const ca = caBundle === "" ? undefined : readAuthorities(caBundle);
  const context = createSecureContext({ ca, ...certificate, allowPartialTrustChain: true });
  const tls = { context, serverName, insecureSkipTlsVerify, ca };
  return {
    key: JSON.stringify([serverName, service.port, insecureSkipTlsVerify, caBundle, certificate?.cert]),
    connect: (address, signal, observer) =>
      connect({ ...address, tls: { ...tls, observer }, ...(signal && { signal }) }),
  };
}
