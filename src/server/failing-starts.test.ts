/** A start that fails leaves nothing open, at whichever step it does; a server that has ended neither. */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { passTurns } from "../../test/support/pass-turns.ts";
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "./options.ts";
import { startServer } from "./start-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-starts-"));
const taken = net.createServer().listen(0, "127.0.0.1");
await new Promise((resolve) => taken.once("listening", resolve));
test.after(() => {
  taken.close();
  rmSync(directory, { recursive: true, force: true });
});

const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text);
  return join(directory, name);
};
const webhook = `clusters: [{name: a, cluster: {server: "https://127.0.0.1:1/"}}]
users: [{name: a}]
contexts: [{name: a, context: {cluster: a, user: a}}]
current-context: a
`;

/** A configuration with valid manifests of one plugin and invalid ones of another. */
function staticManifests(): string {
  const plugins = ["MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"].map((name) => {
    const staticManifestsDir = join(directory, name);
    mkdirSync(staticManifestsDir);
    const configuration = {
      apiVersion: "apiserver.config.k8s.io/v1",
      kind: `${name}Configuration`,
      staticManifestsDir,
    };
    return { name, configuration };
  });
  file("ValidatingAdmissionPolicy/a.yaml", "a: b");
  const configuration = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration", plugins };
  return file("admission.json", JSON.stringify(configuration));
}

/** In the order of the steps. @param dataDir new for each row */
const rows: [what: string, options: (dataDir: string) => Partial<ServerOptions>, message: RegExp][] = [
  ["audit", () => ({ audit: { ...defaultOptions.audit, policyFile: "/nope" } }), /loading audit policy file/],
  [
    "the store",
    (dataDir) => {
      mkdirSync(dataDir);
      writeFileSync(join(dataDir, "storage"), "");
      return {};
    },
    /EEXIST|ENOTDIR/,
  ],
  ["certificates", () => ({ clientCaFile: "/nope" }), /open \/nope/],
  [
    "authorization",
    () => ({
      authorizationModes: ["RBAC", "Node", "Webhook"],
      authorization: { configFile: undefined, webhook: { configFile: "/nope" } },
    }),
    /\/nope/,
  ],
  [
    "the configuration of admission plugins",
    () => ({ admission: { ...defaultOptions.admission, configFile: "/nope" } }),
    /^Error: failed to read plugin config: unable to read admission control configuration from "\/nope"/,
  ],
  [
    "the second directory of static manifests",
    () => ({
      featureGates: "ManifestBasedAdmissionControlConfig=true",
      admission: { ...defaultOptions.admission, configFile: staticManifests() },
    }),
    /failed to initialize admission plugin "ValidatingAdmissionPolicy": failed to load static policy manifests/,
  ],
  ["keys of accounts", () => ({ serviceAccountKeyFiles: ["/nope"] }), /open \/nope/],
  [
    "the webhook of tokens",
    () => ({ tokenWebhook: { ...defaultOptions.tokenWebhook, configFile: "/nope" } }),
    /\/nope/,
  ],
  [
    "the ways to issuers, behind the webhook of tokens",
    () => ({
      tokenWebhook: { ...defaultOptions.tokenWebhook, configFile: file("webhook", webhook) },
      egressSelectorConfigFile: "/nope",
    }),
    /\/nope/,
  ],
  ["the port", () => ({ securePort: (taken.address() as net.AddressInfo).port }), /EADDRINUSE/],
];

/** A clock that knows who still waits for it. */
function countedClock() {
  const clock = manualClock(Date.now());
  const waiting = new Set<{ readonly what: string }>();
  const after: typeof clock.after = (delayMs, run) => {
    const waiter = { what: `${delayMs} ms${new Error().stack?.split("\n")[2]}` };
    waiting.add(waiter);
    const done = (): void => void waiting.delete(waiter);
    const cancel = clock.after(delayMs, () => {
      done();
      run();
    });
    return () => {
      done();
      cancel();
    };
  };
  return { clock: { ...clock, after }, waiting };
}

/** Sockets, servers, watched files, timers: what keeps a process alive. */
async function openResources(): Promise<string[]> {
  await passTurns(20);
  return process.getActiveResourcesInfo().sort();
}

for (const [index, [what, optionsOf, message]] of rows.entries()) {
  test(`it fails at ${what}`, async () => {
    const dataDir = join(directory, String(index));
    const { clock, waiting } = countedClock();
    const before = await openResources();
    await assert.rejects(
      startServer({ storage: "lmdb", durability: "relaxed", dataDir, clock, ...optionsOf(dataDir) }),
      message,
    );
    assert.deepEqual([...waiting], []);
    assert.deepEqual(await openResources(), before);
    if (what === "the store") return;
    const server = await startServer({ storage: "lmdb", durability: "relaxed", dataDir, clock });
    await server.close();
    assert.deepEqual([...waiting], []);
    assert.deepEqual(await openResources(), before);
  });
}
