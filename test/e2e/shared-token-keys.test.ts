/** Servers over one store with the same signing key accept each other's service account tokens, without a warning. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { rawClient } from "../support/raw-client.ts";
import { openSharedStorage, podControllers, startTestServer } from "../support/start-test-server.ts";

for (const isSame of [true, false]) {
  test(`tokens of another server are ${isSame ? "accepted with the same key" : "rejected with another key"}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "coxswain-keys-"));
    const keyFile = (name: string): string => {
      const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const file = join(directory, name);
      writeFileSync(file, privateKey.export({ type: "sec1", format: "pem" }), { mode: 0o600 });
      return file;
    };
    const key = keyFile("one");
    const shared = await openSharedStorage();
    const warnings: string[] = [];
    const logger = { info() {}, error() {}, warn: (message: string) => void warnings.push(message) };
    const start = (hostname: string, serviceAccountSigningKeyFile: string) =>
      startTestServer(
        { hostname, serviceAccountSigningKeyFile, logger, endpointReconciler: "none", controllers: podControllers },
        shared,
      );
    const issuer = await start("first", key);
    const other = await start("second", isSame ? key : keyFile("two"));
    const [admin, client] = [rawClient(issuer.kubeconfig), rawClient(other.kubeconfig)];
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    await admin.send({ method: "POST", path: accounts, body: { metadata: { name: "app" } } });
    const issued = await admin.send({ method: "POST", path: `${accounts}/app/token`, body: { spec: {} } });
    assert.equal(issued.status, 201, issued.text);
    const headers = { authorization: `Bearer ${issued.body.status.token}` };
    const review = { method: "POST", path: "/apis/authentication.k8s.io/v1/selfsubjectreviews", body: {} };
    const { status } = await client.send({ ...review, headers, anonymous: true });
    assert.equal(status, isSame ? 201 : 401);
    assert.equal(warnings.filter((one) => one.includes("service account tokens")).length, isSame ? 0 : 1);
    for (const one of [admin, client]) one.close();
    await Promise.all([issuer.close(), other.close()]);
    await shared.close();
    rmSync(directory, { recursive: true });
  });
}
