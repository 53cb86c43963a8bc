/**
 * Random objects and patches, and what upstream's library makes of them. Recorded by `npm run
 * golden patch`.
 */

import { golden } from "../../../test/support/patch-golden.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const definitions: Readonly<Record<string, string>> = { Deployment: "apps", default: "core" };

golden(new URL("testdata/golden.jsonl.gz", import.meta.url), (kind, doc, patch) => {
  const schema = builtinSchema(`io.k8s.api.${definitions[kind] ?? definitions.default}.v1.${kind}`);
  return applyStrategicMergePatch(doc as object, patch as Record<string, unknown>, schema);
});
