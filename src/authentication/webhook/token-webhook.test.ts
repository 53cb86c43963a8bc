/**
 * Results for responses of a webhook equal upstream's, as recorded by tools/golden/token-webhook.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { Clock } from "../../apimachinery/clock.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { type WebhookAnswer, WebhookError } from "../../webhook/contract.ts";
import { tokenWebhook } from "./token-webhook.ts";

interface Row {
  readonly version: "v1" | "v1beta1";
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly audiences: string[];
  readonly sent: string;
  readonly calls: number;
  readonly authenticated: boolean;
  readonly error?: string;
  readonly user?: { Name: string; UID: string; Groups: string[] | null; Extra: Record<string, string[] | null> | null };
  readonly for?: string[];
}

const rows = readFileSync(join(import.meta.dirname, "testdata/answers.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

/**
 * The differences: upstream accepts users without a name, and has another message for unknown
 * kinds.
 */
const ours = (row: Row): string | undefined => {
  if (row.user?.Name === "") return "the webhook authenticated a user without a name";
  return row.error?.replace(/^no kind "Nope".*/, "converting (v1.Nope) to (v1.TokenReview): unknown conversion");
};

/** A clock on which retry delays end immediately and the limit for all tries is never reached. */
const hastyClock: Clock = {
  now: () => 0,
  after(ms, run) {
    if (ms < 30_000) setImmediate(run);
    return () => {};
  },
};
const quiet = { info() {}, warn() {}, error() {} };

function webhook(version: string, answer: (body: string) => WebhookAnswer, { clock = hastyClock, log = quiet } = {}) {
  const schema = builtinSchema(`io.k8s.api.authentication.${version}.TokenReview`);
  return tokenWebhook({
    client: { post: async (body) => answer(body.toString()) },
    kind: { group: "authentication.k8s.io", version, kind: "TokenReview", schema },
    audiences: ["api"],
    clock,
    logger: log,
  });
}

for (const [index, row] of rows.entries()) {
  test(`answer ${index}: ${row.status} ${row.type} ${row.body.slice(0, 120)}`, async () => {
    let calls = 0;
    const authenticate = webhook(row.version, (sent) => {
      calls++;
      assert.equal(sent, row.sent);
      return {
        status: row.status,
        headers: row.type === "" ? {} : { "content-type": row.type },
        body: Buffer.from(bodyOf(row)),
      };
    });
    const answer = await authenticate("tok", row.audiences);
    assert.equal(calls, row.calls);
    const problem = ours(row);
    if (problem !== undefined) return assert.deepEqual(answer, { problems: [problem] });
    if (row.user === undefined) return assert.equal(answer, undefined);
    const { Name, UID, Groups, Extra } = row.user;
    const extra = new Map(Object.entries(Extra ?? {}).map(([key, values]) => [key, values ?? []]));
    assert.deepEqual(answer, { user: { name: Name, uid: UID, groups: Groups ?? [], extra }, audiences: row.for });
  });
}

/** Go's client ignores the body of a 204 response. */
function bodyOf({ status, body }: Row): string {
  return status === 204 ? "" : body;
}

const good = JSON.stringify({
  status: { authenticated: true, user: { username: "ann", extra: { __proto__x: ["1"] } } },
}).replace("__proto__x", "__proto__");

test("retries reset connections only", async () => {
  for (const [kind, want] of [
    ["reset", 5],
    ["connect", 1],
    ["timeout", 1],
    ["tls", 1],
    ["tooLarge", 1],
  ] as const) {
    let calls = 0;
    const authenticate = webhook("v1", () => {
      calls++;
      throw new WebhookError(kind, "no");
    });
    assert.deepEqual(await authenticate("t", ["api"]), { problems: ["no"] });
    assert.equal(calls, want, kind);
  }
});

test("accepts a later success, with the extra key __proto__", async () => {
  let calls = 0;
  const authenticate = webhook("v1beta1", () => {
    calls++;
    return { status: calls < 3 ? 500 : 200, headers: {}, body: Buffer.from(good) };
  });
  const answer = await authenticate("t", ["api"]);
  assert.deepEqual(answer !== undefined && "user" in answer && [...answer.user.extra], [["__proto__", ["1"]]]);
});

test("stops retrying after 30 seconds", async () => {
  const clock = manualClock();
  let calls = 0;
  const authenticate = webhook(
    "v1",
    () => {
      calls++;
      return { status: 500, headers: {}, body: Buffer.alloc(0) };
    },
    { clock },
  );
  const answer = authenticate("t", ["api"]);
  await new Promise(setImmediate);
  clock.advance(30_000);
  assert.ok("problems" in ((await answer) ?? {}));
  assert.ok(calls <= 2, String(calls));
});

test("does not log a token that the webhook repeats", async () => {
  const logged: string[] = [];
  const log = { ...quiet, error: (...words: unknown[]) => void logged.push(JSON.stringify(words)) };
  const authenticate = webhook(
    "v1",
    () => ({
      status: 400,
      headers: {},
      body: Buffer.from('{"kind":"Status","apiVersion":"v1","message":"what is hush-hush?"}'),
    }),
    { log },
  );
  assert.deepEqual(await authenticate("hush-hush", ["api"]), { problems: ["what is hush-hush?"] });
  assert.equal(logged.length, 1);
  assert.ok(!logged[0]?.includes("hush-hush"));
});

test("limits concurrent reviews", async () => {
  const schema = builtinSchema("io.k8s.api.authentication.v1.TokenReview");
  let release = (): void => {};
  const open = new Promise<void>((resolve) => {
    release = resolve;
  });
  const authenticate = tokenWebhook({
    client: {
      async post() {
        await open;
        return { status: 200, headers: {}, body: Buffer.from(good) };
      },
    },
    kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenReview", schema },
    audiences: ["api"],
    clock: hastyClock,
    logger: quiet,
  });
  const reviews = Array.from({ length: 10_000 }, (_, index) => authenticate(`t${index}`, ["api"]));
  assert.deepEqual(await authenticate("one more", ["api"]), { problems: ["too many concurrent token reviews"] });
  release();
  await Promise.all(reviews);
  assert.ok("user" in ((await authenticate("again", ["api"])) ?? {}));
});
