import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { inGoldenDirectory, messageOf } from "../../../test/support/golden-directory.ts";
import { decodeManifest } from "./manifest-kinds.ts";
import { readPluginConfigurations } from "./read-configurations.ts";

const webhook = "ValidatingAdmissionWebhook";
const apiVersion = "apiserver.config.k8s.io/v1";
const configuration = { apiVersion, kind: "WebhookAdmissionConfiguration", kubeConfigFile: "/dir/kubeconfig" };
const invalid = { name: webhook, configuration: { ...configuration, kubeConfigFile: "relative" } };
const valid = { name: webhook, configuration };
const other = { name: "Priority", configuration: {} };
const missing = { name: "Priority", path: "missing" };
const kubeconfig = "users: [{name: hook.ns.svc, user: {token: t}}]";

interface Row {
  readonly plugins: readonly object[];
  readonly enabled?: readonly string[];
  readonly kubeconfig?: string;
  readonly configured?: readonly string[];
  readonly warnings?: readonly string[];
  readonly error?: string;
}

const rows: [what: string, Row][] = [
  ["of a plugin", { plugins: [valid], configured: [webhook] }],
  ["of a plugin that is disabled is ignored", { plugins: [invalid], enabled: [] }],
  [
    "of a plugin that this server lacks is ignored with a warning",
    { plugins: [{ name: "Other" }], warnings: ["Other"] },
  ],
  ["of a plugin without a configuration API is ignored", { plugins: [other], enabled: [other.name] }],
  [
    "of a plugin without a configuration API must be readable",
    {
      plugins: [missing],
      enabled: [missing.name],
      error: "Couldn't open admission plugin configuration /dir/missing: open /dir/missing: no such file or directory",
    },
  ],
  ["that follows another one of the same plugin is ignored", { plugins: [valid, invalid], configured: [webhook] }],
  [
    "with an exec plugin in the kubeconfig is invalid",
    {
      plugins: [valid],
      kubeconfig: "users: [{name: a, user: {exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}}]",
      error: `couldn't init admission plugin "${webhook}": exec plugins are not supported, but a has one`,
    },
  ],
  [
    "with impersonation in the kubeconfig is invalid",
    {
      plugins: [valid],
      kubeconfig: "users: [{name: a, user: {as: b}}]",
      error: `couldn't init admission plugin "${webhook}": impersonation is not supported, but a asks for it`,
    },
  ],
];

for (const [what, row] of rows) {
  const { plugins, enabled = [webhook], configured = [], warnings = [], error } = row;
  test(`the configuration ${what}`, () =>
    inGoldenDirectory(
      {
        files: {
          "config.json": JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins }),
          kubeconfig: row.kubeconfig ?? kubeconfig,
        },
      },
      async (directory) => {
        const warned: unknown[] = [];
        const read = async (): Promise<void> => {
          const found = await readPluginConfigurations({
            file: join(directory, "config.json"),
            enabled: new Set(enabled),
            gates: { enabled: () => false },
            logger: { warn: (_message, fields) => warned.push(fields?.plugin) },
          });
          assert.deepEqual(Object.keys(found), configured);
          const credentials = await found[webhook]?.findCredentials({ host: "hook.ns.svc", port: 443 });
          assert.deepEqual(credentials, configured.length > 0 ? { token: "t" } : undefined);
        };
        assert.equal(await messageOf(read, directory), error);
        assert.deepEqual(warned, warnings);
      },
    ));
}

test("a kubeconfig that does not exist is an error", () =>
  inGoldenDirectory(
    { files: { "config.json": JSON.stringify({ apiVersion, kind: "AdmissionConfiguration", plugins: [valid] }) } },
    async (directory) => {
      const options = {
        enabled: new Set([webhook]),
        gates: { enabled: () => false },
        logger: { warn: () => undefined },
      };
      const read = (): Promise<unknown> =>
        readPluginConfigurations({ file: join(directory, "config.json"), ...options });
      assert.equal(
        await messageOf(read, directory),
        `couldn't init admission plugin "${webhook}": stat /dir/kubeconfig: no such file or directory`,
      );
    },
  ));

test("lists are nested at most 16 levels deep", () => {
  const nested = (depth: number): Buffer => {
    let list: object = { apiVersion: "v1", kind: "List", items: [] };
    for (let level = 0; level < depth; level++) list = { apiVersion: "v1", kind: "List", items: [list] };
    return Buffer.from(JSON.stringify(list));
  };
  assert.deepEqual(decodeManifest(nested(16), []), []);
  assert.throws(() => decodeManifest(nested(17), []), { message: "lists are nested more than 16 levels deep" });
});
