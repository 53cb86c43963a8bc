/**
 * Files behind symbolic links that a server reloads: a link whose target is written in place, and
 * the links of a mounted ConfigMap. The clock never runs the polls, so only file system events can
 * cause the reload.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import tls from "node:tls";
import { type Clock, systemClock } from "../../src/apimachinery/clock.ts";
import { type RunningServer, type ServerOptions, startServer } from "../../src/index.ts";
import { createAuthority, issueCertificate, type KeyPair } from "../../src/server/serving/x509.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { until } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-linked-files-"));
after(() => rmSync(directory, { recursive: true, force: true }));

/** The server polls once a minute; this clock never runs timers of a minute or more. */
const withoutPolls: Clock = {
  now: systemClock.now,
  after: (ms, run) => (ms >= 60_000 ? () => {} : systemClock.after(ms, run)),
};

/** Content by file name. */
type Files = Readonly<Record<string, string>>;

interface FileSet {
  pathOf(name: string): string;
  replace(files: Files): void;
}

/** Each file is a link to a file in another directory, which is written in place. */
function linkedFiles(dir: string, files: Files): FileSet {
  const target = (name: string): string => join(dir, "target", name);
  mkdirSync(join(dir, "target"), { recursive: true });
  const replace = (next: Files): void => {
    for (const [name, content] of Object.entries(next)) writeFileSync(target(name), content);
  };
  replace(files);
  for (const name of Object.keys(files)) symlinkSync(target(name), join(dir, name));
  return { pathOf: (name) => join(dir, name), replace };
}

/**
 * Mounts the files like a kubelet mounts a ConfigMap, and links to each of them from another
 * directory.
 */
function mountedFiles(dir: string, files: Files): FileSet {
  const mount = join(dir, "mount");
  mkdirSync(mount, { recursive: true });
  let version = 0;
  const replace = (next: Files): void => {
    const versionDir = `..${++version}`;
    mkdirSync(join(mount, versionDir));
    for (const [name, content] of Object.entries(next)) writeFileSync(join(mount, versionDir, name), content);
    symlinkSync(versionDir, join(mount, "..data_tmp"));
    renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
    if (version > 1) rmSync(join(mount, `..${version - 1}`), { recursive: true });
  };
  replace(files);
  for (const name of Object.keys(files)) {
    symlinkSync(`..data/${name}`, join(mount, name));
    symlinkSync(`mount/${name}`, join(dir, name));
  }
  return { pathOf: (name) => join(dir, name), replace };
}

const validity = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 3_600_000 };
const pairOf = async (name: string): Promise<KeyPair> =>
  issueCertificate(await createAuthority({ subject: { commonName: "ca" }, ...validity }), {
    subject: { commonName: name },
    usage: "server",
    names: ["127.0.0.1"],
    ...validity,
  });

const authentication = (path: string): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\nanonymous: {enabled: true}\n# ${path}\njwt: []\n`;
const authorization = (...types: string[]): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [${types.map((type) => `{type: ${type}, name: ${type.toLowerCase()}}`)}]\n`;

/** Replaces all files, and waits until the server uses each of them. */
async function check(fileSet: FileSet, next: Files): Promise<void> {
  const options: Partial<ServerOptions> = {
    tlsCertFile: fileSet.pathOf("tls.crt"),
    tlsPrivateKeyFile: fileSet.pathOf("tls.key"),
    clientCaFile: fileSet.pathOf("clients.crt"),
    authenticationConfigFile: fileSet.pathOf("authentication.yaml"),
    authorization: { configFile: fileSet.pathOf("authorization.yaml"), webhook: {} },
  };
  const logged: string[] = [];
  const log = (message: string, values?: Record<string, unknown>): void =>
    void logged.push(`${message} ${values?.name ?? ""}`);
  const server = await startServer({
    ...options,
    clock: withoutPolls,
    controllers: [],
    logger: { info: log, warn: log, error: log },
  });
  const reloads = async (area: string): Promise<boolean> =>
    new RegExp(`^apiserver_${area}_config_controller_automatic_reloads_total\\{.*status="success"\\} 1$`, "m").test(
      await metricsOf(server),
    );
  try {
    assert.equal(await commonNameAt(server.port), "one");
    fileSet.replace(next);
    await until(async () => (await commonNameAt(server.port)) === "two");
    await until(() => reloads("authorization"));
    await until(() => reloads("authentication"));
    await until(async () => logged.filter((line) => line.startsWith("Reloaded changed files")).length >= 2);
  } finally {
    await server.close();
  }
}

/** Does not verify the serving certificate: its CA is not in the kubeconfig. */
function metricsOf({ url, kubeconfig }: RunningServer): Promise<string> {
  const admin = { cert: field(kubeconfig, "client-certificate-data"), key: field(kubeconfig, "client-key-data") };
  return new Promise((resolve, reject) => {
    const request = https.get(`${url}/metrics`, { ...admin, agent: false, rejectUnauthorized: false }, (response) => {
      response
        .setEncoding("utf8")
        .toArray()
        .then((pieces) => resolve(pieces.join("")), reject);
    });
    request.on("error", reject);
  });
}

function commonNameAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host: "127.0.0.1", port, rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

describe("a server reloads files behind", () => {
  for (const [what, fileSetOf] of [
    ["a link whose target is written in place", linkedFiles],
    ["links to a mounted ConfigMap", mountedFiles],
  ] as const) {
    test(what, { timeout: 60_000 }, async () => {
      const [one, two, clients, others] = [
        await pairOf("one"),
        await pairOf("two"),
        await pairOf("a"),
        await pairOf("b"),
      ];
      const filesOf = (pair: KeyPair, ca: KeyPair, path: string, types: string[]): Files => ({
        "tls.crt": pair.cert,
        "tls.key": pair.key,
        "clients.crt": ca.cert,
        "authentication.yaml": authentication(path),
        "authorization.yaml": authorization(...types),
      });
      const dir = mkdtempSync(join(directory, "files-"));
      await check(
        fileSetOf(dir, filesOf(one, clients, "one", ["Node", "RBAC"])),
        filesOf(two, others, "two", ["RBAC", "Node"]),
      );
    });
  }
});
