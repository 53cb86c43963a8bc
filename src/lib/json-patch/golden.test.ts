/**
 * Compares the results of random patches with those of json-patch v4. Recorded by `npm run
 * golden patch`.
 */
import { golden } from "../../../test/support/patch-golden.ts";
import { applyJsonPatch, type JsonPatchOperation } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";

golden(new URL("testdata/golden.jsonl.gz", import.meta.url), (kind, doc, patch) =>
  kind === "merge" ? applyMergePatch(doc, patch) : applyJsonPatch(doc, patch as readonly JsonPatchOperation[]),
);
