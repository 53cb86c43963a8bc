/** Compares the webhook authorizer with upstream's, as recorded by tools/golden/authorization. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import type { Clock } from "../../apimachinery/clock.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { ReviewSpec } from "../../cel-environment/index.ts";
import { type WebhookAnswer, WebhookError } from "../../webhook/contract.ts";
import type { WebhookConfiguration } from "../configuration/contract.ts";
import { compileMatchConditions } from "../configuration/match-conditions.ts";
import type { AuthorizationAttributes, Authorizer, Decision } from "../contract.ts";
import { encodeReview, reviewSpec } from "./review.ts";
import { webhookAuthorizer } from "./webhook.ts";

function golden<T>(name: string): T[] {
  const text = readFileSync(join(import.meta.dirname, "testdata", `${name}.jsonl`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

interface GoldenAttributes extends Partial<Omit<AuthorizationAttributes, "user">> {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

const nothing = {
  verb: "",
  path: "",
  group: "",
  version: "",
  resource: "",
  subresource: "",
  namespace: "",
  name: "",
  fieldSelector: "",
  labelSelector: "",
};

function attributesOf({ user, uid = "", groups = [], extra = {}, ...rest }: GoldenAttributes): AuthorizationAttributes {
  return {
    ...nothing,
    ...rest,
    isResourceRequest: rest.path === undefined,
    user: { name: user, uid, groups, extra: new Map(Object.entries(extra)) },
  };
}

interface ReviewRow {
  readonly attributes: GoldenAttributes;
  readonly version: "v1" | "v1beta1";
  readonly sent?: { readonly body: string };
}

describe("reviews", () => {
  for (const { attributes, version, sent } of golden<ReviewRow>("reviews")) {
    if (sent === undefined) continue;
    test(`${version} ${JSON.stringify(attributes)}`, () => {
      assert.equal(encodeReview(reviewSpec(attributesOf(attributes), { selectors: true }), version), sent.body);
    });
  }

  test("omits selectors without the gate AuthorizeWithSelectors", () => {
    const attributes = attributesOf({
      user: "a",
      verb: "list",
      resource: "pods",
      fieldSelector: "a=b",
      labelSelector: "c",
    });
    assert.deepEqual(
      Object.keys(reviewSpec(attributes, { selectors: false }).resourceAttributes ?? {}).filter((key) =>
        /Selector/.test(key),
      ),
      [],
    );
  });

  test("encodes extras with any key", () => {
    const extra = new Map([
      ["10", ["a"]],
      ["9", ["b"]],
      ["__proto__", ["c"]],
    ]);
    const spec = reviewSpec(
      { ...attributesOf({ user: "", path: "/" }), user: { name: "", uid: "", groups: [], extra } },
      { selectors: true },
    );
    assert.match(encodeReview(spec, "v1"), /"extra":\{"10":\["a"\],"9":\["b"\],"__proto__":\["c"\]\}/);
  });
});

interface ConditionRow {
  readonly conditions: string[];
  readonly spec: ReviewSpec;
  readonly match?: boolean;
  readonly error?: string;
}

describe("match conditions", () => {
  for (const { conditions, spec, match, error } of golden<ConditionRow>("conditions")) {
    test(`${conditions.join(" · ").slice(0, 100)} of ${JSON.stringify(spec).slice(0, 60)}`, () => {
      const errors = new FieldErrors();
      const compiled = compileMatchConditions(conditions, "matchConditions", errors);
      const [cause] = errors.causes;
      if (cause !== undefined) return assert.equal(`${cause.field}: ${cause.message}`, error);
      assert.deepEqual(compiled?.evaluate(spec), error === undefined ? { matches: match } : { error });
    });
  }
});

const configuration: WebhookConfiguration = {
  authorizedTtlMs: 0,
  unauthorizedTtlMs: 0,
  timeoutMs: 3000,
  subjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "InClusterConfig" },
};

/** A clock on which retry delays end immediately and the limit for all tries is never reached. */
const hastyClock: Clock = {
  now: () => 0,
  after(ms, run) {
    if (ms < 60_000) setImmediate(run);
    return () => {};
  },
};

interface Changed {
  readonly configuration?: Partial<WebhookConfiguration>;
  readonly clock?: Clock;
}

/** @param answer receives the number of the call, from 1 */
function webhook(
  answer: (call: number) => WebhookAnswer,
  { configuration: changed, clock = hastyClock }: Changed = {},
) {
  const seen = { calls: 0, events: [] as string[], logged: [] as string[] };
  const whole = { ...configuration, ...changed };
  const authorize = webhookAuthorizer({
    name: "w",
    configuration: whole,
    client: { post: async () => answer(++seen.calls) },
    schema: builtinSchema(`io.k8s.api.authorization.${whole.subjectAccessReviewVersion}.SubjectAccessReview`),
    selectors: true,
    observer: {
      attempted() {},
      decisions: () => ({ allowed: 0, denied: 0 }),
      webhookCalled: (name, result) => seen.events.push(`${name} called: ${result}`),
      webhookFailedOpen: (name, result) => seen.events.push(`${name} failed open: ${result}`),
      conditionsEvaluated: (name, outcome) => seen.events.push(`${name} conditions: ${outcome}`),
    },
    clock,
    logger: { info() {}, warn() {}, error: (message, values) => seen.logged.push(`${message}: ${values?.error}`) },
    random: () => 0,
  });
  return { authorize, seen };
}

interface AnswerRow {
  readonly what: string;
  readonly attributes: GoldenAttributes;
  readonly version: "v1" | "v1beta1";
  readonly answer: {
    readonly status: number;
    readonly type?: string;
    readonly body?: string;
    readonly bytes?: string;
    readonly headers?: object;
  };
  readonly decision: Decision["decision"];
  readonly reason?: string;
  readonly asked: number;
  readonly error?: string;
}

/** Redirects are followed, and requests repeated, by the client: its tests cover these rows. */
const skipped = /^status 3|retry after|^odd type/;
/**
 * Rows whose error message differs from upstream's: an unknown kind, and bytes that are not UTF-8.
 */
const ours: Readonly<Record<string, string>> = {
  "an unknown kind": "converting (v1.Foo) to (v1.SubjectAccessReview): unknown conversion",
  "not utf8": 'an error on the server ("\ufffd\ufffd\ufffd") has prevented the request from succeeding',
};

describe("answers", () => {
  for (const { what, attributes, version, answer, decision, reason = "", asked: calls, error } of golden<AnswerRow>(
    "answers",
  )) {
    test(what, { skip: skipped.test(what) && "the tests of the client cover it" }, async () => {
      const body = Buffer.from(answer.bytes ?? answer.body ?? "", answer.bytes === undefined ? "utf8" : "base64");
      const headers = { ...(answer.type !== undefined && { "content-type": answer.type }), ...answer.headers };
      const { authorize, seen } = webhook(() => ({ status: answer.status, headers, body }), {
        configuration: { subjectAccessReviewVersion: version },
      });
      const expected = ours[what] ?? error;
      assert.deepEqual(await authorize(attributesOf(attributes)), {
        decision,
        reason,
        ...(expected !== undefined && { error: expected }),
      });
      assert.equal(seen.calls, calls);
    });
  }
});

const request = attributesOf({ user: "jane", verb: "get", path: "/healthz" });
const answered = (status: object): WebhookAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ status })),
});
const down = (): never => {
  throw new WebhookError("connect", "dial tcp: no");
};

describe("without a response", () => {
  const rows: [
    what: string,
    policy: WebhookConfiguration["failurePolicy"],
    failure: WebhookError,
    want: Decision,
    events: string[],
  ][] = [
    [
      "denies after a connection error with the failure policy Deny",
      "Deny",
      new WebhookError("connect", "dial tcp: no"),
      { decision: "deny", reason: "", error: "dial tcp: no" },
      ["w called: error"],
    ],
    [
      "has no opinion after a connection error with the failure policy NoOpinion",
      "NoOpinion",
      new WebhookError("connect", "dial tcp: no"),
      { decision: "noOpinion", reason: "", error: "dial tcp: no" },
      ["w called: error", "w failed open: error"],
    ],
    [
      "has no opinion after a timeout with the failure policy NoOpinion",
      "NoOpinion",
      new WebhookError("timeout", "context deadline exceeded"),
      { decision: "noOpinion", reason: "", error: "context deadline exceeded" },
      ["w called: timeout", "w failed open: timeout"],
    ],
  ];
  for (const [what, failurePolicy, failure, want, events] of rows) {
    test(what, async () => {
      const { authorize, seen } = webhook(
        () => {
          throw failure;
        },
        { configuration: { failurePolicy } },
      );
      assert.deepEqual(await authorize(request), want);
      assert.deepEqual(seen.events, events);
      assert.deepEqual(seen.logged, [`Failed to make webhook authorizer request: ${failure.message}`]);
    });
  }

  test("retries after status 500", async () => {
    const { authorize, seen } = webhook((call) =>
      call < 3 ? { status: 500, headers: {}, body: Buffer.from("") } : answered({ allowed: true }),
    );
    assert.deepEqual(await authorize(request), { decision: "allow", reason: "" });
    assert.deepEqual(seen.events, ["w called: error", "w called: error", "w called: success"]);
  });

  test("stops retrying at the limit for all tries", async () => {
    const clock = manualClock();
    const { authorize, seen } = webhook(
      (call) => {
        if (call === 3) {
          clock.advance(60_000);
          throw new WebhookError("canceled", "context canceled");
        }
        setImmediate(() => clock.advance(10_000));
        return { status: 500, headers: {}, body: Buffer.from("") };
      },
      { configuration: { failurePolicy: "NoOpinion" }, clock },
    );
    assert.deepEqual(await authorize(request), { decision: "noOpinion", reason: "", error: "context canceled" });
    assert.deepEqual(seen.events, ["w called: error", "w called: error", "w called: canceled"]);
  });

  test("does not retry after the client closed its connection", async () => {
    let disconnect = (): void => {};
    const connection = {
      onClose(run: () => void) {
        disconnect = run;
      },
    };
    const { authorize, seen } = webhook(() => {
      disconnect();
      return { status: 500, headers: {}, body: Buffer.from("") };
    });
    await authorize({ ...request, connection });
    assert.equal(seen.calls, 1);
  });

  test("rethrows errors that are not WebhookErrors", async () => {
    const { authorize } = webhook(() => {
      throw new TypeError("x");
    });
    await assert.rejects(async () => authorize(request), TypeError);
  });
});

describe("conditions", () => {
  const conditions = (...texts: string[]) => compileMatchConditions(texts, "", new FieldErrors());
  const rows: [
    texts: string[],
    policy: WebhookConfiguration["failurePolicy"],
    want: Decision["decision"],
    calls: number,
    events: string[],
  ][] = [
    [["request.user == 'jane'"], "Deny", "allow", 1, ["w conditions: matched", "w called: success"]],
    [["request.user == 'joe'"], "Deny", "noOpinion", 0, ["w conditions: excluded"]],
    [["request.resourceAttributes.name == 'a'"], "Deny", "deny", 0, ["w conditions: failed"]],
    [["request.resourceAttributes.name == 'a'"], "NoOpinion", "noOpinion", 0, ["w conditions: failed"]],
    [["request.resourceAttributes.name == 'a'", "false"], "Deny", "noOpinion", 0, ["w conditions: excluded"]],
  ];
  for (const [texts, failurePolicy, decision, calls, events] of rows) {
    test(`${texts.join(" · ")}: ${failurePolicy}`, async () => {
      const { authorize, seen } = webhook(() => answered({ allowed: true }), {
        configuration: { conditions: conditions(...texts), failurePolicy },
      });
      assert.equal((await authorize(request)).decision, decision);
      assert.deepEqual([seen.calls, seen.events], [calls, events]);
    });
  }
});

describe("caches responses", () => {
  /**
   * Authorizes after each of the pauses.
   *
   * @returns the number of webhook calls after each of them
   */
  async function calls(
    authorize: Authorizer,
    seen: { calls: number },
    clock: { advance(ms: number): void },
    pauses: number[],
  ): Promise<number[]> {
    const counts: number[] = [];
    for (const ms of pauses) {
      clock.advance(ms);
      await authorize(request);
      counts.push(seen.calls);
    }
    return counts;
  }
  const ttls = { authorizedTtlMs: 300, unauthorizedTtlMs: 30 };
  const rows: [what: string, status: object, ttls: Partial<WebhookConfiguration>, want: number[]][] = [
    ["allowed", { allowed: true }, ttls, [1, 1, 1, 1, 2]],
    ["denied", { denied: true }, ttls, [1, 1, 2, 3, 4]],
    ["no opinion", {}, ttls, [1, 1, 2, 3, 4]],
    ["both", { allowed: true, denied: true }, ttls, [1, 1, 1, 1, 2]],
    [
      "allowed, with this cache disabled",
      { allowed: true },
      { authorizedTtlMs: 0, unauthorizedTtlMs: 30 },
      [1, 2, 3, 4, 5],
    ],
    [
      "denied, with this cache disabled",
      { denied: true },
      { authorizedTtlMs: 300, unauthorizedTtlMs: 0 },
      [1, 2, 3, 4, 5],
    ],
    ["a reason above the limit", { allowed: true, reason: "x".repeat(10_001) }, ttls, [1, 2, 3, 4, 5]],
  ];
  for (const [what, status, changed, want] of rows) {
    test(what, async () => {
      const clock = manualClock();
      const { authorize, seen } = webhook(() => answered(status), { configuration: changed, clock });
      assert.deepEqual(await calls(authorize, seen, clock, [0, 29, 1, 200, 70]), want);
    });
  }

  test("does not cache failures", async () => {
    const { authorize, seen } = webhook(down, { configuration: ttls });
    await authorize(request);
    await authorize(request);
    assert.equal(seen.calls, 2);
  });

  test("caches by all attributes, except requests above the limit", async () => {
    const { authorize, seen } = webhook(() => answered({ allowed: true }), { configuration: ttls });
    const requests = [request, { ...request, verb: "post" }, { ...request, user: { ...request.user, groups: ["g"] } }];
    for (const one of [...requests, ...requests]) await authorize(one);
    assert.equal(seen.calls, 3);
    for (const length of [9999 - "get".length, 10_000 - "get".length]) {
      for (const _ of "ab") await authorize({ ...request, path: "x".repeat(length) });
    }
    assert.equal(seen.calls, 6);
  });

  test("keeps the 8192 most recently used responses", async () => {
    const { authorize, seen } = webhook(() => answered({ allowed: true }), { configuration: ttls });
    for (let index = 0; index < 8192; index++) await authorize({ ...request, path: `/${index}` });
    await authorize({ ...request, path: "/0" });
    assert.equal(seen.calls, 8192);
    await authorize({ ...request, path: "/8192" });
    await authorize({ ...request, path: "/0" });
    assert.equal(seen.calls, 8193);
    await authorize({ ...request, path: "/1" });
    assert.equal(seen.calls, 8194);
  });
});
