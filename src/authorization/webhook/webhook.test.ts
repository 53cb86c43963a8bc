/** Held against upstream's webhook authorizer (tools/golden/authorization). */
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

  test("without the gate, no selectors", () => {
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

  test("extras may have any key", () => {
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

/** Pauses pass at once, the limit of all tries never comes. */
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

/** @param answer called with the number of the call, from 1 on */
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

/** Redirects are not followed here. What the client does itself is tested with it. */
const skipped = /^status 3|retry after|^odd type/;
/** Where upstream has other words: for a kind that nobody knows, and for bytes that are no text. */
const ours: Readonly<Record<string, string>> = {
  "an unknown kind": "converting (v1.Foo) to (v1.SubjectAccessReview): unknown conversion",
  "not utf8": 'an error on the server ("\ufffd\ufffd\ufffd") has prevented the request from succeeding',
};

describe("answers", () => {
  for (const { what, attributes, version, answer, decision, reason = "", asked, error } of golden<AnswerRow>(
    "answers",
  )) {
    test(what, { skip: skipped.test(what) }, async () => {
      const body = Buffer.from(answer.bytes ?? answer.body ?? "", answer.bytes === undefined ? "utf8" : "base64");
      const headers = { ...(answer.type !== undefined && { "content-type": answer.type }), ...answer.headers };
      const { authorize, seen } = webhook(() => ({ status: answer.status, headers, body }), {
        configuration: { subjectAccessReviewVersion: version },
      });
      const wanted = ours[what] ?? error;
      assert.deepEqual(await authorize(attributesOf(attributes)), {
        decision,
        reason,
        ...(wanted !== undefined && { error: wanted }),
      });
      assert.equal(seen.calls, asked);
    });
  }
});

const question = attributesOf({ user: "jane", verb: "get", path: "/healthz" });
const answered = (status: object): WebhookAnswer => ({
  status: 200,
  headers: {},
  body: Buffer.from(JSON.stringify({ status })),
});
const down = (): never => {
  throw new WebhookError("connect", "dial tcp: no");
};

describe("when there is no answer", () => {
  const rows: [
    what: string,
    policy: WebhookConfiguration["failurePolicy"],
    failure: WebhookError,
    want: Decision,
    events: string[],
  ][] = [
    [
      "down, and that denies",
      "Deny",
      new WebhookError("connect", "dial tcp: no"),
      { decision: "deny", reason: "", error: "dial tcp: no" },
      ["w called: error"],
    ],
    [
      "down, and the next is asked",
      "NoOpinion",
      new WebhookError("connect", "dial tcp: no"),
      { decision: "noOpinion", reason: "", error: "dial tcp: no" },
      ["w called: error", "w failed open: error"],
    ],
    [
      "too slow",
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
      assert.deepEqual(await authorize(question), want);
      assert.deepEqual(seen.events, events);
      assert.deepEqual(seen.logged, [`Failed to make webhook authorizer request: ${failure.message}`]);
    });
  }

  test("it is asked again, and then it answers", async () => {
    const { authorize, seen } = webhook((call) =>
      call < 3 ? { status: 500, headers: {}, body: Buffer.from("") } : answered({ allowed: true }),
    );
    assert.deepEqual(await authorize(question), { decision: "allow", reason: "" });
    assert.deepEqual(seen.events, ["w called: error", "w called: error", "w called: success"]);
  });

  test("at some time there are no more tries", async () => {
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
    assert.deepEqual(await authorize(question), { decision: "noOpinion", reason: "", error: "context canceled" });
    assert.deepEqual(seen.events, ["w called: error", "w called: error", "w called: canceled"]);
  });

  test("who went away is not asked for again", async () => {
    let leave = (): void => {};
    const waiting = {
      onClose(run: () => void) {
        leave = run;
      },
    };
    const { authorize, seen } = webhook(() => {
      leave();
      return { status: 500, headers: {}, body: Buffer.from("") };
    });
    await authorize({ ...question, waiting });
    assert.equal(seen.calls, 1);
  });

  test("a mistake of ours is no answer", async () => {
    const { authorize } = webhook(() => {
      throw new TypeError("x");
    });
    await assert.rejects(async () => authorize(question), TypeError);
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
      assert.equal((await authorize(question)).decision, decision);
      assert.deepEqual([seen.calls, seen.events], [calls, events]);
    });
  }
});

describe("answers are kept", () => {
  /** Asks after each of the pauses. @returns how often the webhook was called by then */
  async function calls(
    authorize: Authorizer,
    seen: { calls: number },
    clock: { advance(ms: number): void },
    pauses: number[],
  ): Promise<number[]> {
    const counts: number[] = [];
    for (const ms of pauses) {
      clock.advance(ms);
      await authorize(question);
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
    ["allowed, switched off", { allowed: true }, { authorizedTtlMs: 0, unauthorizedTtlMs: 30 }, [1, 2, 3, 4, 5]],
    ["denied, switched off", { denied: true }, { authorizedTtlMs: 300, unauthorizedTtlMs: 0 }, [1, 2, 3, 4, 5]],
    ["a reason that is too long", { allowed: true, reason: "x".repeat(10_001) }, ttls, [1, 2, 3, 4, 5]],
  ];
  for (const [what, status, changed, want] of rows) {
    test(what, async () => {
      const clock = manualClock();
      const { authorize, seen } = webhook(() => answered(status), { configuration: changed, clock });
      assert.deepEqual(await calls(authorize, seen, clock, [0, 29, 1, 200, 70]), want);
    });
  }

  test("failures are not", async () => {
    const { authorize, seen } = webhook(down, { configuration: ttls });
    await authorize(question);
    await authorize(question);
    assert.equal(seen.calls, 2);
  });

  test("each question by itself, and no long ones", async () => {
    const { authorize, seen } = webhook(() => answered({ allowed: true }), { configuration: ttls });
    const questions = [
      question,
      { ...question, verb: "post" },
      { ...question, user: { ...question.user, groups: ["g"] } },
    ];
    for (const one of [...questions, ...questions]) await authorize(one);
    assert.equal(seen.calls, 3);
    for (const length of [9999 - "get".length, 10_000 - "get".length]) {
      for (const _ of "ab") await authorize({ ...question, path: "x".repeat(length) });
    }
    assert.equal(seen.calls, 6);
  });

  test("at most 8192, and those used last", async () => {
    const { authorize, seen } = webhook(() => answered({ allowed: true }), { configuration: ttls });
    for (let index = 0; index < 8192; index++) await authorize({ ...question, path: `/${index}` });
    await authorize({ ...question, path: "/0" });
    assert.equal(seen.calls, 8192);
    await authorize({ ...question, path: "/8192" });
    await authorize({ ...question, path: "/0" });
    assert.equal(seen.calls, 8193);
    await authorize({ ...question, path: "/1" });
    assert.equal(seen.calls, 8194);
  });
});
