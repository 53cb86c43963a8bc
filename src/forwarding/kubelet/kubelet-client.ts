/**
 * Connections to kubelets. Source: `transportConfig` in
 * k8s.io/kubernetes@v1.36.0/pkg/kubelet/client/kubelet_client.go.
 */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Clock } from "../../apimachinery/clock.ts";
import { constantly, type Live, openLiveFiles } from "../../apimachinery/followed-files.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { parseIp } from "../../lib/ip-range/ip-address.ts";
import { connect } from "../../webhook/connect.ts";
import { WebhookError } from "../../webhook/contract.ts";
import { findProxyableAddress, type Lookup, lookupProblem, systemLookup } from "../proxy/check-address.ts";
import type { AddressPolicy, OpenBackend } from "../proxy/contract.ts";
import type { KubeletAddress, KubeletOptions } from "./contract.ts";

/** Opens connections to kubelets. */
export interface KubeletClient {
  readonly options: KubeletOptions;
  /**
   * @returns a function that also throws ApiError 400 if the address is checked and not allowed
   */
  opener(kubelet: KubeletAddress, verification?: Verification): OpenBackend;
  /** Reloads the certificates when their files change. */
  follow(): void;
  close(): void;
}

interface Verification {
  /** Accepts a certificate that is not valid. */
  readonly skipped?: boolean;
  /** Allows addresses for proxies only, whatever the options. */
  readonly isProxied?: boolean;
}

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly addresses: AddressPolicy;
}

/** What a connection needs of TLS; `ca` is undefined if certificates are not verified. */
interface Material {
  readonly context: SecureContext;
  readonly ca: string | undefined;
}

/** @throws Error if a file cannot be read or is not valid, or one of a certificate and its key is missing */
export async function openKubeletClient(options: KubeletOptions, parts: Parts): Promise<KubeletClient> {
  const material = await openMaterial(options, parts);
  return {
    options,
    opener:
      ({ host, port }, { skipped = false, isProxied = false } = {}) =>
      async (signal) => {
        const isChecked = isProxied || options.checksAddresses;
        const address = isChecked ? await findProxyableAddress(host, parts.addresses, resolve) : await anyAddress(host);
        const { context, ca } = material.current();
        const insecureSkipTlsVerify = skipped || ca === undefined;
        return connect({ host: address, port, signal, tls: { context, ca, serverName: host, insecureSkipTlsVerify } });
      },
    follow: () => material.follow(() => {}),
    close: () => material.close(),
  };
}

const resolve: Lookup = async (host) => {
  try {
    return await systemLookup(host);
  } catch (error) {
    throw new WebhookError("connect", `dial tcp: lookup ${host}: ${lookupProblem(error)}`);
  }
};

async function anyAddress(host: string): Promise<string> {
  const [first = host] = parseIp(host) === undefined ? await resolve(host) : [host];
  return first;
}

/** A context takes a millisecond to make, and most servers have no kubelets. */
function onFirstUse(make: () => Material): Live<Material> {
  let made: Material | undefined;
  return {
    ...constantly(undefined),
    current() {
      made ??= make();
      return made;
    },
  };
}

async function openMaterial(options: KubeletOptions, { clock, logger }: Parts): Promise<Live<Material>> {
  const { certificateAuthorityFile: caFile, clientCertificateFile: certFile, clientKeyFile: keyFile } = options;
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new Error("kubelet-client-certificate and kubelet-client-key must be given together");
  const files = [caFile, certFile, keyFile].filter((file) => file !== undefined);
  const parse = (texts: readonly string[]): Material => {
    const ca = caFile === undefined ? undefined : texts[0];
    const [cert, key] = texts.slice(caFile === undefined ? 0 : 1);
    const context = createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert, key }),
      allowPartialTrustChain: true,
    });
    return { context, ca };
  };
  if (files.length === 0) return onFirstUse(() => parse([]));
  return openLiveFiles({ name: "kubelet-client", files, parse, clock, logger });
}
