/**
 * Upstream's apiextensions-apiserver, built from its libraries (tools/golden/definition-server),
 * for comparing answers. It serves only CustomResourceDefinitions and their objects: no namespaces,
 * no admission.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { formatKubeconfig } from "../../src/server/serving/kubeconfig.ts";
import { createAuthority, issueCertificate } from "../../src/server/serving/x509.ts";

export interface UpstreamServer {
  /** The kubeconfig of a user with all permissions. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

/**
 * Why the server is not available; undefined if it is. Its dependencies are downloaded when it is
 * first built.
 */
export function upstreamMissing(): string | undefined {
  const { status, stderr, error } = spawnSync("go", ["build", "-o", binary, "."], { cwd: source, timeout: 600_000 });
  return status === 0
    ? undefined
    : `upstream's server cannot be built: ${error?.message ?? stderr.toString().trim().split("\n").at(-1)}`;
}

const source = join(import.meta.dirname, "../../tools/golden/definition-server");
const binary = join(tmpdir(), `coxswain-crd-server-${process.getuid?.() ?? ""}`);

/** @param flags of the apiextensions-apiserver, such as `--feature-gates=…` */
export async function startUpstreamDefinitions(flags: readonly string[] = []): Promise<UpstreamServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-upstream-"));
  const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "test" }, ...validity });
  const server = await issueCertificate(authority, {
    subject: { commonName: "server" },
    usage: "server",
    names: ["127.0.0.1"],
    ...validity,
  });
  const subject = { commonName: "admin", organizations: ["system:masters"] };
  const admin = await issueCertificate(authority, { subject, usage: "client", names: [], ...validity });
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const certificates = [
    `--client-ca-file=${file("ca.crt", authority.cert)}`,
    `--tls-cert-file=${file("server.crt", server.cert)}`,
    `--tls-private-key-file=${file("server.key", server.key)}`,
  ];
  const child = spawn(binary, [...certificates, ...flags], { stdio: ["pipe", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (piece) => {
    complaints = (complaints + piece).slice(-10_000);
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await Promise.race([firstLine(child.stdout), ended.then(() => undefined)]);
  if (url === undefined) throw new Error(`upstream's server does not start: ${complaints}`);
  return {
    kubeconfig: formatKubeconfig(url, { caBundle: authority.cert, admin }),
    async close() {
      child.stdin.end();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

function firstLine(output: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => createInterface({ input: output }).once("line", resolve));
}
