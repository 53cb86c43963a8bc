import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "./options.ts";
import { startServer } from "./start-server.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-server-"));
test.after(() => rmSync(directory, { recursive: true, force: true }));
writeFileSync(join(directory, "file"), "");
writeFileSync(join(directory, "policies"), "{}\nnonsense\n");

const tooFewAddresses =
  /^Error: error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses$/;

const failingStarts: [what: string, options: Partial<ServerOptions>, message: RegExp][] = [
  ["an invalid service range", { serviceClusterIpRange: "x" }, /invalid argument "x" for service-cluster-ip-range/],
  ["a service range of 2 addresses", { serviceClusterIpRange: "10.0.0.0/31" }, tooFewAddresses],
  ["a first service range of 4 addresses", { serviceClusterIpRange: "fd00::/126,10.0.0.0/24" }, tooFewAddresses],
  ["an unknown feature gate", { featureGates: "Foo=true" }, /unrecognized feature gate: Foo/],
  ["an unknown API group", { runtimeConfig: "foo/v1=true" }, /unknown api groups foo/],
  [
    "an unknown authorization mode",
    { authorizationModes: ["Foo"] },
    /^Error: authorization-mode "Foo" is not a valid mode$/,
  ],
  [
    "several errors in authorization modes, which it reports together",
    { authorizationModes: ["Foo", "Webhook", "Webhook"], authorizationPolicyFile: join(directory, "file") },
    /^Error: \[authorization-mode "Foo" is not a valid mode, .* config file not passed, .* without mode ABAC, authorization-mode \["Foo" "Webhook" "Webhook"\] has mode specified more than once\]$/,
  ],
  [
    "a missing file of client authorities",
    { clientCaFile: "/nope" },
    /^Error: open \/nope: no such file or directory$/,
  ],
  [
    "a token file that is a directory",
    { tokenAuthFile: directory },
    new RegExp(`^Error: read ${directory}: is a directory$`),
  ],
  [
    "a missing file of the signing key",
    { serviceAccountSigningKeyFile: "/nope" },
    /^Error: open \/nope: no such file or directory$/,
  ],
  [
    "a missing file of service account keys",
    { serviceAccountKeyFiles: ["/nope"] },
    /^Error: open \/nope: no such file or directory$/,
  ],
  [
    "a missing audit policy file",
    { audit: { ...defaultOptions.audit, policyFile: "/nope" } },
    /^Error: loading audit policy file: failed to read file path "\/nope": open \/nope: no such file or directory$/,
  ],
  [
    "the mode ABAC without its file",
    { authorizationModes: ["ABAC"] },
    /authorization-mode ABAC's authorization policy file not passed/,
  ],
  [
    "a policy file without its mode",
    { authorizationPolicyFile: join(directory, "file") },
    /cannot specify --authorization-policy-file without mode ABAC/,
  ],
  [
    "a policy file with an invalid line",
    { authorizationModes: ["ABAC"], authorizationPolicyFile: join(directory, "policies") },
    /policies, line 2: nonsense: /,
  ],
  ["a certificate without its key", { tlsCertFile: join(directory, "file") }, /must be given together/],
  ["a store without a directory", { storage: "lmdb" }, /needs a data directory/],
  ["an address of another machine", { bindAddress: "192.0.2.1" }, /EADDRNOTAVAIL/],
];
for (const [what, options, message] of failingStarts)
  test(`rejects ${what}`, () => assert.rejects(startServer(options), message));

test("a failed start releases the data directory and the port", async () => {
  const dataDir = join(directory, "data");
  const taken = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as net.AddressInfo;
  await assert.rejects(startServer({ storage: "lmdb", dataDir, securePort: port }), /EADDRINUSE/);
  await new Promise((resolve) => taken.close(resolve));
  const server = await startServer({ storage: "lmdb", dataDir, securePort: port });
  assert.equal(server.port, port);
  await server.close();
});

test("two servers in one process share nothing", async () => {
  const [first, second] = await Promise.all([startServer(), startServer()]);
  assert.notEqual(first.port, second.port);
  assert.notEqual(first.kubeconfig, second.kubeconfig);
  await Promise.all([first.close(), second.close()]);
});
