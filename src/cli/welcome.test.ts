import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { starting, welcome, welcomeDetails } from "./welcome.ts";

test("ends with the address, the kubeconfig and the next command, which a shell can read", () => {
  const server = { url: "https://127.0.0.1:6443", kubeconfigFile: "/tmp/it's here/kubeconfig" };
  assert.deepEqual(welcome(server).split("\n"), [
    "Serving https://127.0.0.1:6443",
    "kubeconfig: /tmp/it's here/kubeconfig",
    "Next: kubectl --kubeconfig '/tmp/it'\\''s here/kubeconfig' get namespaces",
    "",
  ]);
  assert.equal(welcome({ url: server.url, kubeconfigFile: undefined }), "Serving https://127.0.0.1:6443\n");
});

test("says on a terminal where the data is, and that nothing runs pods", () => {
  const details = welcomeDetails({ storage: "memory", dataDir: "/tmp/a" }, { isColored: false });
  assert.match(details, /^Data: in memory, lost when the server stops; certificates in \/tmp\/a$/m);
  assert.match(details, /^Pods: nothing runs them here/m);
});

test("says that the first start generates keys", (context) => {
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-welcome-"));
  context.after(() => rmSync(dataDir, { recursive: true }));
  assert.equal(starting({ dataDir }), `Generating keys and certificates in ${dataDir}, and starting …\n`);
  writeFileSync(join(dataDir, "ca.crt"), "");
  assert.equal(starting({ dataDir }), "Starting …\n");
});
