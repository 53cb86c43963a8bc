import assert from "node:assert/strict";
import { test } from "node:test";
import type { TokenAnswer } from "./contract.ts";
import { forOwnAudiences } from "./token-audiences.ts";
import { tokenUnion } from "./token-union.ts";

const user = (name: string): TokenAnswer => ({
  user: { name, uid: "", groups: [], extra: new Map() },
  audiences: ["a"],
});
const no = (problem: string): TokenAnswer => ({ problems: [problem] });

const rows: [what: string, answers: TokenAnswer[], want: string | undefined][] = [
  ["no authenticators", [], undefined],
  ["an unknown token", [undefined, undefined], undefined],
  ["the first accepted result", [undefined, user("ann"), user("bob")], "ann"],
  ["accepts after a problem of another authenticator", [no("expired"), user("ann")], "ann"],
  ["a problem", [undefined, no("expired"), undefined], "expired"],
  ["several problems", [no("expired"), undefined, no("no such key")], "expired, no such key"],
];
for (const [what, answers, want] of rows) {
  for (const [how, wrap] of [
    ["synchronous", (answer: TokenAnswer) => answer],
    ["asynchronous", async (answer: TokenAnswer) => answer],
  ] as const) {
    test(`${what}, ${how}`, async () => {
      const union = tokenUnion(answers.map((answer) => () => wrap(answer)));
      const answer = await union("t", ["a"]);
      const found = answer === undefined || "user" in answer ? answer?.user.name : answer.problems.join(", ");
      assert.equal(found, want);
    });
  }
}

const audienceRows: [own: string[], requested: string[], want: string[] | undefined][] = [
  [["a"], ["a"], ["a"]],
  [
    ["a", "b"],
    ["c", "b", "a"],
    ["b", "a"],
  ],
  [["a"], ["b"], undefined],
];
for (const [own, requested, want] of audienceRows) {
  test(`a token without audiences, server audiences ${own}, requested ${requested}`, async () => {
    for (const answer of [user("ann"), Promise.resolve(user("ann"))]) {
      const found = await forOwnAudiences(() => answer, own)("t", requested);
      assert.deepEqual(found === undefined || "problems" in found ? undefined : found.audiences, want);
    }
  });
}
