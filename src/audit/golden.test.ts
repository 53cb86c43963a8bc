/** Events and policies equal upstream's, as recorded by tools/golden/audit. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { UserInfo } from "../apimachinery/user.ts";
import { encodeAny } from "../lib/json/encode-any.ts";
import type { AuditEvent, ObjectReference } from "./contract.ts";
import { formatEventList, formatJsonEvent, formatLegacyEvent, formatListedEvent } from "./format-event.ts";
import { policyEvaluator } from "./policy.ts";
import { parseAuditPolicy } from "./policy-file.ts";

function rowsOf<Row>(file: string): Row[] {
  const text = readFileSync(join(import.meta.dirname, "testdata", file), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Sent = any;

function userOf({ username = "", uid = "", groups = [], extra = {} }: Sent): UserInfo {
  return { name: username, uid, groups, extra: new Map(Object.entries(extra)) };
}

const emptyReference = {
  resource: "",
  namespace: "",
  name: "",
  uid: "",
  apiGroup: "",
  apiVersion: "",
  resourceVersion: "",
  subresource: "",
};
const millisecondsOf = (text: string): number => Date.parse(text);

/** Parses an event from its JSON. */
function eventOf(sent: Sent): AuditEvent {
  const { metadata: _, ...status } = sent.responseStatus ?? {};
  return {
    level: sent.level,
    auditId: sent.auditID,
    stage: sent.stage,
    requestUri: sent.requestURI,
    verb: sent.verb,
    user: userOf(sent.user),
    impersonatedUser: sent.impersonatedUser && userOf(sent.impersonatedUser),
    impersonationConstraint: sent.authenticationMetadata?.impersonationConstraint ?? "",
    sourceIps: sent.sourceIPs ?? [],
    userAgent: sent.userAgent ?? "",
    objectRef: sent.objectRef && ({ ...emptyReference, ...sent.objectRef } as ObjectReference),
    responseStatus: sent.responseStatus && status,
    requestObject: sent.requestObject && encodeAny(sent.requestObject),
    responseObject: sent.responseObject && encodeAny(sent.responseObject),
    requestReceivedAt: millisecondsOf(sent.requestReceivedTimestamp),
    stageAt: millisecondsOf(sent.stageTimestamp),
    annotations: new Map(Object.entries(sent.annotations ?? {})),
  };
}

interface EventRow {
  readonly line: string;
  readonly legacy: string;
  readonly list?: string;
}

test("formats events as JSON, in the legacy format and as a list like upstream", () => {
  const rows = rowsOf<EventRow>("events.jsonl");
  assert.ok(rows.length > 100);
  for (const { line, legacy, list } of rows) {
    const event = eventOf(JSON.parse(line));
    assert.equal(formatJsonEvent(event), line);
    assert.equal(formatLegacyEvent(event), legacy);
    if (list !== undefined) assert.equal(formatEventList([formatListedEvent(event), formatListedEvent(event)]), list);
  }
});

interface GoldenAttributes {
  readonly user: string;
  readonly groups: readonly string[] | null;
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

interface PolicyRow {
  readonly policy: string;
  readonly answers: readonly {
    readonly asked: GoldenAttributes;
    readonly level: string;
    readonly omitStages: readonly string[];
    readonly omitManagedFields: boolean;
  }[];
}

test("evaluates policies like upstream", () => {
  const rows = rowsOf<PolicyRow>("policies.jsonl");
  let recorded = 0;
  for (const { policy, answers } of rows) {
    const evaluate = policyEvaluator(parseAuditPolicy(Buffer.from(policy), "p", assert.fail));
    for (const { asked: attributes, ...want } of answers) {
      const { user: name, groups, ...rest } = attributes;
      const user = "nobody" in attributes ? undefined : { name, uid: "", groups: groups ?? [], extra: new Map() };
      const { level, omitStages, omitManagedFields } = evaluate({
        ...rest,
        user,
        version: "v1",
        fieldSelector: "",
        labelSelector: "",
      });
      assert.deepEqual(
        { level, omitStages: [...omitStages].sort(), omitManagedFields },
        want,
        JSON.stringify({ policy, attributes }),
      );
      if (level !== "None") recorded++;
    }
  }
  assert.ok(recorded > 200);
});
