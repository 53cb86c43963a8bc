import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuthorizationAttributes, Authorizer, Decision } from "./contract.ts";
import { unionAuthorizer } from "./union.ts";

const decided = (decision: Decision["decision"], reason = "", error?: string): Decision => ({
  decision,
  reason,
  ...(error !== undefined && { error }),
});

const rows: [what: string, chain: Decision[], want: Decision, calls: number][] = [
  ["an empty chain has no opinion", [], decided("noOpinion"), 0],
  [
    "the first allow is final",
    [decided("noOpinion"), decided("allow", "a"), decided("deny", "b")],
    decided("allow", "a"),
    2,
  ],
  [
    "the first deny is final",
    [decided("noOpinion"), decided("deny", "b"), decided("allow", "a")],
    decided("deny", "b"),
    2,
  ],
  [
    "joins all reasons",
    [decided("noOpinion", "a"), decided("noOpinion"), decided("noOpinion", "b")],
    decided("noOpinion", "a\nb"),
    3,
  ],
  [
    "drops earlier reasons and errors when a later authorizer allows",
    [decided("noOpinion", "a", "x"), decided("allow", "b")],
    decided("allow", "b"),
    2,
  ],
  ["keeps the error of a deny", [decided("deny", "", "x")], decided("deny", "", "x"), 1],
  [
    "joins all errors without duplicates",
    [decided("noOpinion", "a", "x"), decided("noOpinion", "", "y"), decided("noOpinion", "", "x")],
    decided("noOpinion", "a", "[x, y]"),
    3,
  ],
  ["one error", [decided("noOpinion", "", "x"), decided("noOpinion")], decided("noOpinion", "", "x"), 2],
];

for (const isAsync of [false, true]) {
  for (const [what, chain, want, calls] of rows) {
    test(`${what}${isAsync ? ", with asynchronous authorizers" : ""}`, async () => {
      let count = 0;
      const links = chain.map((decision): { authorize: Authorizer; counts: { allowed: number; denied: number } } => ({
        authorize: () => {
          count++;
          return isAsync ? Promise.resolve(decision) : decision;
        },
        counts: { allowed: 0, denied: 0 },
      }));
      assert.deepEqual(await unionAuthorizer(links)({} as AuthorizationAttributes), want);
      assert.equal(count, calls);
      const counted = links.flatMap(({ counts }, index) =>
        counts.allowed + counts.denied > 0 ? [[index, counts]] : [],
      );
      const final = want.decision !== "noOpinion";
      assert.deepEqual(
        counted,
        final
          ? [[calls - 1, { allowed: Number(want.decision === "allow"), denied: Number(want.decision === "deny") }]]
          : [],
      );
    });
  }
}
