import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuditLevel, RequestAudit } from "../request/audit.ts";
import { annotateAudit } from "./annotate.ts";

const rows: [
  what: string,
  level: AuditLevel | undefined,
  key: string,
  annotationLevel: AuditLevel | undefined,
  want: string | undefined | "wrong",
][] = [
  ["a valid key", "Metadata", "pod-security.kubernetes.io/enforce-policy", undefined, "v"],
  ["no audit record", undefined, "a.b/c", undefined, undefined],
  ["a level above that of the record", "Metadata", "a.b/c", "Request", undefined],
  ["the level of the record", "Request", "a.b/c", "Request", "v"],
  ["a level below that of the record", "RequestResponse", "a.b/c", "Request", "v"],
  ["a key without a domain", "Metadata", "c", undefined, "wrong"],
  ["a key with two slashes", "Metadata", "a/b/c", undefined, "wrong"],
  ["an invalid domain", "Metadata", "A_/c", undefined, "wrong"],
  ["an invalid name", "Metadata", "a.b/-c", undefined, "wrong"],
  ["an invalid key, no audit record", undefined, "c", undefined, "wrong"],
];
for (const [what, level, key, annotationLevel, want] of rows) {
  test(`audit annotation of a plugin: ${what}`, () => {
    const annotations = new Map<string, string>();
    const audit =
      level &&
      ({ level, annotate: (name, value) => void annotations.set(name, value) } as Pick<
        RequestAudit,
        "level" | "annotate"
      > as RequestAudit);
    const problem = annotateAudit({ audit }, key, "v", annotationLevel);
    assert.equal(problem === undefined, want !== "wrong");
    assert.equal(annotations.get(key), want === "wrong" ? undefined : want);
  });
}
