import assert from "node:assert/strict";
import { test } from "node:test";
import type { AuthorizationAttributes, Authorizer, Decision } from "./contract.ts";
import { unionAuthorizer } from "./union.ts";

const says = (decision: Decision["decision"], reason = "", error?: string): Decision => ({
  decision,
  reason,
  ...(error !== undefined && { error }),
});

const rows: [what: string, chain: Decision[], want: Decision, asked: number][] = [
  ["nobody", [], says("noOpinion"), 0],
  ["the first that allows", [says("noOpinion"), says("allow", "a"), says("deny", "b")], says("allow", "a"), 2],
  ["the first that denies", [says("noOpinion"), says("deny", "b"), says("allow", "a")], says("deny", "b"), 2],
  ["reasons of all", [says("noOpinion", "a"), says("noOpinion"), says("noOpinion", "b")], says("noOpinion", "a\nb"), 3],
  ["reasons before do not count", [says("noOpinion", "a", "x"), says("allow", "b")], says("allow", "b"), 2],
  ["an error with a denial", [says("deny", "", "x")], says("deny", "", "x"), 1],
  [
    "errors of all, each once",
    [says("noOpinion", "a", "x"), says("noOpinion", "", "y"), says("noOpinion", "", "x")],
    says("noOpinion", "a", "[x, y]"),
    3,
  ],
  ["one error", [says("noOpinion", "", "x"), says("noOpinion")], says("noOpinion", "", "x"), 2],
];

for (const waits of [false, true]) {
  for (const [what, chain, want, asked] of rows) {
    test(`${what}${waits ? ", and each takes its time" : ""}`, async () => {
      let count = 0;
      const links = chain.map((decision): { authorize: Authorizer; counts: { allowed: number; denied: number } } => ({
        authorize: () => {
          count++;
          return waits ? Promise.resolve(decision) : decision;
        },
        counts: { allowed: 0, denied: 0 },
      }));
      assert.deepEqual(await unionAuthorizer(links)({} as AuthorizationAttributes), want);
      assert.equal(count, asked);
      const counted = links.flatMap(({ counts }, index) =>
        counts.allowed + counts.denied > 0 ? [[index, counts]] : [],
      );
      const final = want.decision !== "noOpinion";
      assert.deepEqual(
        counted,
        final
          ? [[asked - 1, { allowed: Number(want.decision === "allow"), denied: Number(want.decision === "deny") }]]
          : [],
      );
    });
  }
}
