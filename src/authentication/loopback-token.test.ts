import assert from "node:assert/strict";
import { test } from "node:test";
import { loopbackTokenAuthenticator } from "./loopback-token.ts";

const token = "0123456789abcdef";
const authenticate = loopbackTokenAuthenticator(token, "the-uid");

test("accepts its token as the loopback user", async () => {
  const answer = await authenticate(token, ["a"]);
  assert.ok(answer !== undefined && "user" in answer);
  const { name, uid, groups } = answer.user;
  assert.deepEqual([name, uid, groups], ["system:apiserver", "the-uid", ["system:authenticated", "system:masters"]]);
});

for (const other of ["", token.slice(1), `${token}0`, token.toUpperCase(), "0".repeat(token.length), "é".repeat(8)])
  test(`does not know ${JSON.stringify(other)}`, async () => assert.equal(await authenticate(other, ["a"]), undefined));
