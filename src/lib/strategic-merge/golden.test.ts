/**
 * Random objects and patches of them, and what upstream's library makes of these. tools/golden/patch makes the answers
 * (`zcat golden.jsonl.gz | go run . | gzip -9n`), and with COXSWAIN_TEST_FULL=1 and Go at hand they are made again and compared.
 * Patches that say one thing and its opposite are left out: upstream's answer hangs on the order of a map there.
 */

import { golden } from "../../../test/support/patch-golden.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const definitions: Readonly<Record<string, string>> = { Deployment: "apps", default: "core" };

golden(new URL("testdata/golden.jsonl.gz", import.meta.url), (kind, doc, patch) => {
  const schema = builtinSchema(`io.k8s.api.${definitions[kind] ?? definitions.default}.v1.${kind}`);
  return applyStrategicMergePatch(doc as object, patch as Record<string, unknown>, schema);
});
