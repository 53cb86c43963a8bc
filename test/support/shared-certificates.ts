/** Certificates that several servers share: of one authority for servers and clients. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/server/serving/x509.ts";

export interface SharedCertificates {
  /** The authority in PEM. */
  readonly ca: string;
  /** Issues a client certificate. */
  client(name: string, groups?: readonly string[]): Promise<KeyPair>;
  /** Flags of the certificates. */
  readonly servingFlags: readonly string[];
  /** Flags of the key of service account tokens. */
  readonly tokenFlags: readonly string[];
  /** Writes the certificates of a proxy in front of other servers. @returns flags for front proxies and aggregation */
  proxyFlags(): Promise<readonly string[]>;
}

/** Writes an authority, a serving certificate for this machine, and a key for tokens to the directory. */
export async function writeSharedCertificates(directory: string): Promise<SharedCertificates> {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "shared" }, ...life });
  const client = (issuer: KeyPair, commonName: string, organizations: readonly string[] = []): Promise<KeyPair> =>
    issueCertificate(issuer, { subject: { commonName, organizations }, usage: "client", names: [], ...life });
  const names = ["localhost", "127.0.0.1"];
  const subject = { commonName: "server" };
  const serving = await issueCertificate(authority, { subject, usage: "server", names, ...life });
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const ca = file("ca.crt", authority.cert);
  const tokens = file("tokens.key", privateKey.export({ type: "sec1", format: "pem" }).toString());
  const pair = [
    "--tls-cert-file",
    file("serving.crt", serving.cert + authority.cert),
    "--tls-private-key-file",
    file("serving.key", serving.key),
  ];
  return {
    ca: authority.cert,
    client: (commonName, organizations) => client(authority, commonName, organizations),
    servingFlags: ["--client-ca-file", ca, ...pair],
    tokenFlags: ["--service-account-signing-key-file", tokens, "--service-account-key-file", tokens],
    async proxyFlags() {
      const proxies = await createAuthority({ subject: { commonName: "proxies" }, ...life });
      const proxy = await client(proxies, "front-proxy");
      return [
        ...["--requestheader-client-ca-file", file("proxies.crt", proxies.cert)],
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        ...["--proxy-client-cert-file", file("proxy.crt", proxy.cert)],
        ...["--proxy-client-key-file", file("proxy.key", proxy.key)],
      ];
    },
  };
}
