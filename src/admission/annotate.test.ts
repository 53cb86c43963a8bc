import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditLevel, RequestAudit } from "../audit/contract.ts";
import { annotateAudit } from "./annotate.ts";

const rows: [
  what: string,
  level: AuditLevel | undefined,
  key: string,
  of: AuditLevel | undefined,
  want: string | undefined | "wrong",
][] = [
  ["a key", "Metadata", "pod-security.kubernetes.io/enforce-policy", undefined, "v"],
  ["nothing is recorded", undefined, "a.b/c", undefined, undefined],
  ["for a higher level", "Metadata", "a.b/c", "Request", undefined],
  ["for this level", "Request", "a.b/c", "Request", "v"],
  ["for a lower level", "RequestResponse", "a.b/c", "Request", "v"],
  ["a key without a domain", "Metadata", "c", undefined, "wrong"],
  ["a key with two slashes", "Metadata", "a/b/c", undefined, "wrong"],
  ["a domain that is none", "Metadata", "A_/c", undefined, "wrong"],
  ["a name that is none", "Metadata", "a.b/-c", undefined, "wrong"],
  ["a key that is wrong, nothing recorded", undefined, "c", undefined, "wrong"],
];
for (const [what, level, key, of, want] of rows) {
  test(`annotations of plugins: ${what}`, () => {
    const annotations = new Map<string, string>();
    const audit =
      level &&
      ({ level, annotate: (name, value) => void annotations.set(name, value) } as Pick<
        RequestAudit,
        "level" | "annotate"
      > as RequestAudit);
    const problem = annotateAudit({ audit }, key, "v", of);
    assert.equal(problem === undefined, want !== "wrong");
    assert.equal(annotations.get(key), want === "wrong" ? undefined : want);
  });
}
