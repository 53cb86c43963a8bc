/** Configuration files, compared with upstream's. Recorded by tools/golden/kubernetes/admission-config. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRows, inGoldenDirectory, messageOf } from "../../../test/support/golden-directory.ts";
import { readAdmissionConfiguration, readEntry } from "./configuration-file.ts";
import type { ManifestPlugin } from "./contract.ts";
import { decodeManifestConfiguration } from "./manifest-configuration.ts";
import { readPluginConfigurations } from "./read-configurations.ts";

interface Row {
  readonly what: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly directories?: readonly string[];
  readonly gate?: boolean;
  /** Plugins that run in addition to those of webhooks and policies. */
  readonly enable?: readonly string[];
  readonly error?: string;
  readonly plugins?: Readonly<Record<string, object>>;
}

const different = new Set([
  "another kind of the group", // Upstream's message names an internal Go type.
  "ImagePolicyWebhook: text after JSON", // Upstream ignores the text.
  "PodNodeSelector: broken YAML", // Upstream ignores the file, and so the restriction.
  "ImagePolicyWebhook: a kubeconfig: bad authority", // Is found later in the start.
]);
const optional = ["ImagePolicyWebhook", "PodNodeSelector", "PodTolerationRestriction", "EventRateLimit"];
const manifestPlugins = [
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
];

for (const row of await goldenRows<Row>(join(import.meta.dirname, "testdata/files.jsonl"))) {
  test(
    `configuration of admission plugins: ${row.what}`,
    { skip: different.has(row.what) && "differs from upstream" },
    () =>
      inGoldenDirectory(row, async (directory) => {
        const gates = { enabled: () => row.gate === true };
        const file = join(directory, "config.yaml");
        const names = [...optional.filter((name) => row.enable?.includes(name)), ...manifestPlugins];
        const read = (): Promise<unknown> =>
          readPluginConfigurations({
            file,
            enabled: new Set(names),
            gates,
            logger: { warn: () => undefined },
          });
        if (row.error !== undefined || row.enable !== undefined)
          return assert.equal(await messageOf(read, directory), row.error);
        const entries = await readAdmissionConfiguration(file);
        const found: Record<string, object> = {};
        for (const entry of entries.toReversed().filter(({ plugin }) => manifestPlugins.includes(plugin))) {
          const bytes = await readEntry(entry);
          if (bytes === undefined) continue;
          found[entry.plugin] = await decodeManifestConfiguration(entry.plugin as ManifestPlugin, bytes, gates);
        }
        const text = JSON.stringify(found).replaceAll(directory, "/dir");
        assert.deepEqual(withoutEmpty(JSON.parse(text)), row.plugins ?? {});
      }),
  );
}

/** Upstream's fixture omits empty fields, and plugins without settings. */
function withoutEmpty(plugins: Readonly<Record<string, object>>): Record<string, object> {
  const settings = Object.entries(plugins).map(
    ([name, fields]) => [name, Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""))] as const,
  );
  return Object.fromEntries(settings.filter(([, fields]) => Object.keys(fields).length > 0));
}
