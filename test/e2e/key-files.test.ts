/**
 * Private keys that the server creates are SEC1, which every client reads; keys that the user
 * supplies are not changed.
 */
import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ServerOptions, startServer } from "../../src/index.ts";
import { createCertificates } from "../../src/server/serving/certificates.ts";
import { field } from "../support/kubeconfig-fields.ts";
import { rawClient } from "../support/raw-client.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-key-files-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const sec1 = /^-----BEGIN EC PRIVATE KEY-----\n[^-]+-----END EC PRIVATE KEY-----\n$/;
const asPkcs8 = (key: string): string => createPrivateKey(key).export({ type: "pkcs8", format: "pem" }).toString();
const base64 = (text: string): string => Buffer.from(text).toString("base64");

/** Starts the server and sends it a request. @returns the kubeconfig's text */
async function startOnce(options: Partial<ServerOptions>): Promise<string> {
  const server = await startServer({ storage: "lmdb", durability: "relaxed", controllers: [], ...options });
  const text = server.kubeconfigFile === undefined ? server.kubeconfig : readFileSync(server.kubeconfigFile, "utf8");
  const client = rawClient(text);
  assert.equal((await client.send({ path: "/api/v1/namespaces/default" })).status, 200);
  client.close();
  await server.close();
  return text;
}

test("the key in the kubeconfig of an in-memory server is SEC1", async () => {
  assert.match(field(await startOnce({ storage: "memory" }), "client-key-data"), sec1);
});

test("a start rewrites the server's own PKCS#8 keys as SEC1, in key files and in the kubeconfig", async () => {
  const [dataDir, certDir] = [join(directory, "data"), join(directory, "certificates")];
  const files = [
    ...["ca", "apiserver", "admin", "service-account"].map((name) => join(dataDir, `${name}.key`)),
    join(certDir, "apiserver.key"),
  ];
  const read = (): string[] => files.map((file) => readFileSync(file, "utf8"));
  const kubeconfig = await startOnce({ dataDir, certDir });
  const before = read();
  for (const key of [field(kubeconfig, "client-key-data"), ...before]) assert.match(key, sec1);
  for (const file of files) writeFileSync(file, asPkcs8(readFileSync(file, "utf8")));
  const key = field(kubeconfig, "client-key-data");
  writeFileSync(join(dataDir, "kubeconfig"), kubeconfig.replace(base64(key), base64(asPkcs8(key))));
  assert.equal(
    await startOnce({ dataDir, certDir }),
    kubeconfig.replace(
      /server: \S+/,
      /server: \S+/.exec(readFileSync(join(dataDir, "kubeconfig"), "utf8"))?.[0] as string,
    ),
  );
  assert.deepEqual(read(), before);
});

test("a start does not change keys that the user supplied", async () => {
  const [dataDir, certDir] = [join(directory, "other-data"), join(directory, "other-certificates")];
  const { ca, serving } = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const supplied = asPkcs8(serving.key);
  const signing = generateKeyPairSync("ec", { namedCurve: "P-256" })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
  const [tlsCertFile, tlsPrivateKeyFile] = [file("tls.crt", `${serving.cert}${ca.cert}`), file("tls.key", supplied)];
  const serviceAccountSigningKeyFile = file("signing.key", signing);
  await startOnce({ dataDir, certDir, serviceAccountSigningKeyFile });
  writeFileSync(join(certDir, "apiserver.crt"), `${serving.cert}${ca.cert}`);
  writeFileSync(join(certDir, "apiserver.key"), supplied);
  await startOnce({ dataDir, certDir, serviceAccountSigningKeyFile });
  assert.deepEqual(
    [join(certDir, "apiserver.key"), serviceAccountSigningKeyFile].map((one) => readFileSync(one, "utf8")),
    [supplied, signing],
  );
  await startOnce({ dataDir, tlsCertFile, tlsPrivateKeyFile });
  assert.equal(readFileSync(tlsPrivateKeyFile, "utf8"), supplied);
});
