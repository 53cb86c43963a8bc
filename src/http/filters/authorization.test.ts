/** The outcome of a decision; filters.test.ts covers rejections. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { ask } from "../../../test/support/request-context.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Decision } from "../../authorization/contract.ts";
import type { RequestAudit } from "../../request/audit.ts";
import { authorizationFilter } from "./authorization.ts";

/** @param decision after `waitMs`; at once without */
async function decide(decision: Decision, waitMs?: number) {
  const notes: Record<string, string> = {};
  const attempts: [Decision["decision"], number][] = [];
  const clock = manualClock();
  const filter = authorizationFilter(
    () => {
      if (waitMs === undefined) return decision;
      return Promise.resolve().then(() => {
        clock.advance(waitMs);
        return decision;
      });
    },
    { attempted: (one, durationMs) => attempts.push([one.decision, durationMs]), clock },
  );
  let rejection: unknown;
  const audit = {
    annotate: (key: string, value: string) => Object.assign(notes, { [key]: value }),
    timing: () => () => {},
  } as unknown as RequestAudit;
  const answer = await ask(
    async (context) => {
      try {
        await filter({ ...context, audit });
        context.exchange.respond(200, {});
      } catch (error) {
        rejection = error;
        if (!context.exchange.answered) context.exchange.respond(403, {});
      }
    },
    { path: "/api/v1/pods?a=<b>" },
  );
  return { answer, rejection, notes, attempts };
}

const decided = "authorization.k8s.io/decision";
const why = "authorization.k8s.io/reason";

const rows: [decision: Decision, status: number, notes: object][] = [
  [{ decision: "allow", reason: "r" }, 200, { [decided]: "allow", [why]: "r" }],
  [{ decision: "allow", reason: "r", error: "x" }, 200, { [decided]: "allow", [why]: "r" }],
  [{ decision: "deny", reason: "r" }, 403, { [decided]: "forbid", [why]: "r" }],
  [{ decision: "noOpinion", reason: "" }, 403, { [decided]: "forbid", [why]: "" }],
  [{ decision: "deny", reason: "r", error: "x" }, 500, { [why]: "internal error" }],
  [{ decision: "noOpinion", reason: "r", error: "x" }, 500, { [why]: "internal error" }],
];

for (const [decision, status, notes] of rows) {
  test(`${decision.decision}${decision.error === undefined ? "" : ", and something went wrong"}`, async () => {
    for (const waitMs of [undefined, 20]) {
      const found = await decide(decision, waitMs);
      assert.deepEqual(
        [found.answer.status, found.notes, found.attempts],
        [status, notes, [[decision.decision, waitMs ?? 0]]],
      );
      assert.equal(found.rejection instanceof ApiError, status !== 200);
    }
  });
}

test("sends an authorizer's error as escaped text", async () => {
  const { answer } = await decide({ decision: "deny", reason: "", error: "a <b> & c" });
  assert.equal(answer.body.toString(), 'Internal Server Error: "/api/v1/pods?a=&lt;b&gt;": a &lt;b&gt; &amp; c\n');
  assert.deepEqual(answer.headers, {
    "audit-id": "audit",
    "cache-control": "no-cache, private",
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  });
});
