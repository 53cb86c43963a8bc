/** The certificates a server runs with: its own, or those it was given. */
import { readFile } from "node:fs/promises";
import type { ServerOptions } from "../options.ts";
import { createCertificates, ensureCertificates, type KeyPair } from "./certificates.ts";

export interface ServingSetup {
  readonly serving: KeyPair;
  /** PEM bundle that client certificates must chain to. */
  readonly clientCa: string;
  /** PEM bundle that clients check the serving certificate with. */
  readonly caBundle: string;
  /** The client certificate of the kubeconfig. */
  readonly admin: KeyPair;
}

type SetupOptions = Pick<ServerOptions, "clock" | "dataDir" | "tlsCertFile" | "tlsPrivateKeyFile" | "clientCaFile">;

/** @throws Error when only one of the serving certificate and its key is given, or a file cannot be read */
export async function servingSetup(options: SetupOptions, names: readonly string[]): Promise<ServingSetup> {
  const { tlsCertFile, tlsPrivateKeyFile, clientCaFile, dataDir } = options;
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined))
    throw new Error("tls-cert-file and tls-private-key-file must be given together");
  const certificateOptions = { now: options.clock.now(), names };
  const own = await (dataDir === undefined ? createCertificates(certificateOptions) : ensureCertificates(dataDir, certificateOptions));
  const given =
    tlsCertFile === undefined ? undefined : { cert: await readFile(tlsCertFile, "utf8"), key: await readFile(tlsPrivateKeyFile as string, "utf8") };
  const givenCa = clientCaFile === undefined ? "" : await readFile(clientCaFile, "utf8");
  return {
    serving: given ?? own.serving,
    // Our own admin stays able to log in beside the given authorities.
    clientCa: `${own.ca.cert}${givenCa}`,
    caBundle: given?.cert ?? own.ca.cert,
    admin: own.admin,
  };
}
