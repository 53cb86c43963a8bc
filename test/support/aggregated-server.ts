/** Runs other API servers behind a server of a test. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { join } from "node:path";
import type { ServerOptions } from "../../src/index.ts";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";

/** Options of a server that aggregated servers trust. Its certificates are written to the directory. */
export async function frontProxyOptions(directory: string): Promise<Partial<ServerOptions>> {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "front-proxy-ca" }, ...life });
  const subject = { commonName: "front-proxy-client" };
  const { cert, key } = await issueCertificate(authority, { subject, usage: "client", names: [], ...life });
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  return {
    proxyClientCertFile: file("proxy.crt", cert),
    proxyClientKeyFile: file("proxy.key", key),
    requestHeader: {
      clientCaFile: file("front.crt", authority.cert),
      allowedNames: ["front-proxy-client"],
      usernameHeaders: ["X-Remote-User"],
      uidHeaders: ["X-Remote-Uid"],
      groupHeaders: ["X-Remote-Group"],
      extraHeaderPrefixes: ["X-Remote-Extra-"],
    },
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const listener = net.createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
}
