/** Static manifests, compared with what upstream loads. Recorded by tools/golden/kubernetes/admission-config. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { catalogWithRules } from "../../../test/support/builtin-catalog.ts";
import { goldenRows, inGoldenDirectory, messageOf } from "../../../test/support/golden-directory.ts";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { policyChecker } from "../../cel-environment/policy-checker.ts";
import type { ManifestPlugin } from "./contract.ts";
import { loadManifests } from "./load-manifests.ts";
import { readManifestFiles } from "./manifest-files.ts";

interface Row {
  readonly what: string;
  readonly plugin: ManifestPlugin;
  readonly files?: Readonly<Record<string, string>>;
  readonly error?: string;
  readonly hash?: string;
  readonly objects?: readonly KubeObject[];
}

const catalog = catalogWithRules({ loadExpressionChecker: async () => policyChecker(defaultVersion.minCompatible) });

for (const row of await goldenRows<Row>(join(import.meta.dirname, "testdata/manifests.jsonl"))) {
  test(`static manifests: ${row.what}`, () =>
    inGoldenDirectory(row, async (directory) => {
      let objects: KubeObject[] = [];
      let hash = "";
      const load = async (): Promise<void> => {
        const files = await readManifestFiles(directory);
        hash = files.hash;
        objects = [...(await loadManifests(row.plugin, files.documents, catalog)).values()].flat();
      };
      assert.equal(await messageOf(load, directory), row.error);
      if (row.error !== undefined) return;
      assert.equal(hash, row.hash ?? "");
      assert.deepEqual(objects.map(comparable), (row.objects ?? []).map(comparable));
    }));
}

/** Upstream's objects have no kind, and an empty status if it is not a pointer. */
function comparable({ apiVersion: _apiVersion, kind: _kind, status: _status, ...rest }: KubeObject): unknown {
  return JSON.parse(JSON.stringify(rest));
}
