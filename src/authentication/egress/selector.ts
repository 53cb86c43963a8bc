/**
 * Opens the egress selector of `--egress-selector-config-file`.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/egressselector/egress_selector.go.
 */

import net from "node:net";
import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";
import type { Dial } from "../oidc/document-client.ts";
import { type EgressSelection, readEgressSelections } from "./configuration.ts";
import { type HttpProxy, httpConnect } from "./http-connect.ts";

/** Returns the dialer of an egress type. @throws Error for a type that is not configured */
type EgressSelector = (type: string) => Dial;

/**
 * Reads the configuration.
 *
 * @param file undefined when no egress type is configured
 * @throws Error when the file or a referenced file is invalid
 */
export async function openEgressSelector(file: string | undefined): Promise<EgressSelector> {
  if (file === undefined) {
    return (type) => {
      throw new Error(`oidc: egress lookup required with egress selector type ${quoteGo(type)}`);
    };
  }
  const dials = new Map<string, Dial>();
  for (const selection of readEgressSelections(await readSelector(file)))
    dials.set(selection.name, await dialOf(selection));
  return (type) => {
    const dial = dials.get(type);
    if (dial === undefined) throw new Error(`oidc: egress lookup for ${quoteGo(type)} is not configured`);
    return dial;
  };
}

async function readSelector(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file);
  } catch (error) {
    const why = `unable to read egress selector configuration from ${quoteGo(file)} [${fileProblem(error, file)}]`;
    throw new Error(`failed to read egress selector config: ${why}`, { cause: error });
  }
}

async function dialOf({ name, connection: { proxyProtocol, transport } }: EgressSelection): Promise<Dial> {
  if (proxyProtocol === "Direct") return direct;
  if (proxyProtocol === "GRPC")
    throw new Error(
      `failed to setup egress selector: egressSelection ${quoteGo(name)}: the protocol GRPC is not supported`,
    );
  const { tcp, uds } = transport ?? {};
  return httpConnect(uds === undefined ? await tcpProxy(tcp ?? {}) : { socketPath: uds.udsName ?? "" });
}

async function tcpProxy({
  url = "",
  tlsConfig,
}: {
  url?: string;
  tlsConfig?: NonNullable<EgressSelectionTls>;
}): Promise<HttpProxy> {
  const address = URL.parse(url);
  if (address === null) throw new Error(`invalid proxy server url ${quoteGo(url)}`);
  const { caBundle = "", clientCert = "", clientKey = "", tlsServerName = "" } = tlsConfig ?? {};
  return {
    url: address,
    ...(tlsConfig && {
      tls: {
        cert: await readBoundedFile(clientCert),
        key: await readBoundedFile(clientKey),
        ...(caBundle !== "" && { ca: await readBoundedFile(caBundle) }),
        ...(tlsServerName !== "" && { servername: tlsServerName }),
      },
    }),
  };
}

type EgressSelectionTls = NonNullable<NonNullable<EgressSelection["connection"]["transport"]>["tcp"]>["tlsConfig"];

const direct: Dial = (host, port) =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ host, port }, () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
