/** Options of servers that connect to a kubelet of the tests. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultOptions, type ServerOptions } from "../../src/index.ts";
import type { FakeKubelet } from "./fake-kubelet.ts";

/** Writes the certificates to files of a new directory, which the caller removes. */
export function kubeletOptions(
  { ca, client }: Pick<FakeKubelet, "ca" | "client">,
  directory = mkdtempSync(join(tmpdir(), "coxswain-kubelet-")),
): Pick<ServerOptions, "kubelet" | "proxiedAddresses"> {
  const write = (name: string, text: string): string => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };
  return {
    kubelet: {
      ...defaultOptions.kubelet,
      certificateAuthorityFile: write("ca.crt", ca),
      clientCertificateFile: write("client.crt", client.cert),
      clientKeyFile: write("client.key", client.key),
    },
    proxiedAddresses: { allowLoopback: true },
  };
}
