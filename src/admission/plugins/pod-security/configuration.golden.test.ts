/** Configuration files, compared with upstream's. Recorded by tools/golden/pod-security. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { goldenRows } from "../../../../test/support/golden-directory.ts";
import { readPluginConfigurations } from "../../config/read-configurations.ts";
import type { PodSecurityConfiguration } from "./contract.ts";

interface Row {
  readonly what: string;
  readonly file: string;
  readonly error?: string;
  readonly configuration?: {
    readonly Defaults: Readonly<Record<string, string>>;
    readonly Exemptions: Readonly<Record<string, readonly string[] | null>>;
  };
}

const directory = mkdtempSync(join(tmpdir(), "coxswain-pod-security-"));
const config = join(directory, "config.yaml");
const entry = "{name: PodSecurity, path: plugin.yaml}";
writeFileSync(config, `apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: [${entry}]\n`);

const read = async (file: string): Promise<PodSecurityConfiguration | undefined> => {
  writeFileSync(join(directory, "plugin.yaml"), file);
  const enabled = new Set(["PodSecurity"]);
  const gates = { enabled: () => false };
  const options = { file: config, enabled, present: ["PodSecurity"], gates, logger: { warn: () => {} } };
  return (await readPluginConfigurations(options)).PodSecurity;
};

for (const { what, file, error, configuration } of await goldenRows<Row>(
  join(import.meta.dirname, "testdata/configurations.jsonl"),
)) {
  test(`reads the configuration of PodSecurity: ${what}`, async () => {
    if (error !== undefined) return assert.rejects(read(file), { message: error });
    assert.deepEqual(upstreamForm((await read(file)) as PodSecurityConfiguration), configuration);
  });
}

test.after(() => rmSync(directory, { recursive: true }));

/** The internal type of upstream, in which a list without items is null. */
function upstreamForm({
  defaults: { enforce, audit, warn },
  exemptions,
}: PodSecurityConfiguration): Row["configuration"] {
  const listOf = (names: ReadonlySet<string>): string[] | null => (names.size === 0 ? null : [...names]);
  return {
    Defaults: {
      Enforce: enforce.level,
      EnforceVersion: enforce.version.text,
      Audit: audit.level,
      AuditVersion: audit.version.text,
      Warn: warn.level,
      WarnVersion: warn.version.text,
    },
    Exemptions: {
      Usernames: listOf(exemptions.usernames),
      Namespaces: listOf(exemptions.namespaces),
      RuntimeClasses: listOf(exemptions.runtimeClasses),
    },
  };
}
