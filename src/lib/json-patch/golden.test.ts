/**
 * Random documents and patches of them, and what upstream's library makes of these. tools/golden/patch makes the answers
 * (`zcat golden.jsonl.gz | go run . | gzip -9n`), and with COXSWAIN_TEST_FULL=1 and Go at hand they are made again and compared.
 */
import { golden } from "../../../test/support/patch-golden.ts";
import { applyJsonPatch, type JsonPatchOperation } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";

golden(new URL("testdata/golden.jsonl.gz", import.meta.url), (kind, doc, patch) =>
  kind === "merge" ? applyMergePatch(doc, patch) : applyJsonPatch(doc, patch as readonly JsonPatchOperation[]),
);
