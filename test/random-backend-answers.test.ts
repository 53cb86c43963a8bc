/**
 * Random answers of backends: each of a webhook, a converter and etcd is accepted, or rejected with an error of its kind.
 * `random-forwarded-answers.test.ts` has those that are forwarded to clients.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { denial } from "../src/admission/webhooks/denial.ts";
import { InvalidReview, type ReviewResponse, readResponse } from "../src/admission/webhooks/review-response.ts";
import { ReviewProblem, readReview } from "../src/apis/apiextensions/conversion/review.ts";
import { decodeMessage } from "../src/lib/grpc/codec.ts";
import { ProtobufError } from "../src/lib/protobuf/reader.ts";
import type { RequestState } from "../src/request/context.ts";
import { rangeResponse, txnResponse, watchResponse } from "../src/storage/etcd/api/messages.ts";
import { WebhookError } from "../src/webhook/contract.ts";
import { type LeavingClients, leavingClients } from "./support/leaving-clients.ts";
import { manualClock } from "./support/manual-clock.ts";
import { listenWithRoutes, type RouteListener } from "./support/route-listener.ts";
import { seed } from "./support/seed.ts";
import { seededRandom } from "./support/seeded-random.ts";

const random = seededRandom(seed);
const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const counts = isFull
  ? { webhook: 300_000, converter: 250_000, etcd: 250_000 }
  : { webhook: 2000, converter: 2000, etcd: 2000 };

let server: RouteListener;
let clients: LeavingClients;
/** The denials that requests are answered with, by number. */
const denials = new Map<string, ReviewResponse["result"]>();

before(async () => {
  const handler = ({ info }: RequestState): never => {
    throw denial("webhook.example.com", denials.get(info.path));
  };
  server = await listenWithRoutes({ routes: [{ path: "/denied/*", handler }], clock: manualClock() });
  clients = leavingClients(server, random);
});
after(async () => {
  clients.close();
  await server.close();
});

/** Values in place of others. */
const odd = [
  null,
  true,
  0,
  -1,
  99,
  204,
  599,
  600,
  1000,
  2 ** 31,
  1e21,
  1.5,
  "",
  "x",
  "\0",
  "\ud800",
  [],
  [null],
  {},
  { a: 1 },
] as const;

/** A copy in which some values are others. */
function disturbed(value: unknown): unknown {
  if (random(8) === 0) return pick(odd);
  if (Array.isArray(value)) return value.map(disturbed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => (random(12) === 0 ? [] : [[key, disturbed(one)]])),
  );
}

function randomAnswer(template: object): { status: number; headers: Record<string, string>; body: Buffer } {
  const text = Buffer.from(JSON.stringify(random(4) === 0 ? template : disturbed(template)));
  if (random(6) === 0) text[random(text.length)] = random(256);
  const body = random(8) === 0 ? text.subarray(0, random(text.length)) : text;
  return {
    status: random(4) === 0 ? pick([199, 204, 304, 400, 429, 500, 599, 600, 999]) : 200,
    headers: {
      "content-type": pick(["application/json", "text/plain", ""]),
      "retry-after": pick(["1", "-1", "x", "99999999999"]),
    },
    body,
  };
}

const review = (version: string): object => ({
  apiVersion: `admission.k8s.io/${version}`,
  kind: "AdmissionReview",
  response: {
    uid: "u",
    allowed: false,
    status: {
      metadata: { continue: "x", resourceVersion: "1" },
      status: "Failure",
      message: "no",
      reason: "Invalid",
      code: 1000,
      details: { name: "n", causes: [{ reason: "r", message: "m", field: "f" }], retryAfterSeconds: 3 },
    },
    warnings: ["w"],
    auditAnnotations: { a: "b" },
  },
});

test(`an answer of an admission webhook is accepted or rejected, SEED=${seed}`, { timeout: 1_200_000 }, async () => {
  for (let at = 0; at < counts.webhook; at++) {
    const version = pick(["v1", "v1beta1"] as const);
    try {
      const { allowed, result } = readResponse(randomAnswer(review(version)), {
        version,
        uid: "u",
        isMutating: random(2) === 0,
      });
      if (allowed || result === undefined) continue;
      const path = `/denied/${at}`;
      denials.set(path, result);
      const status = await clients.overHttp2(path);
      denials.delete(path);
      assert.ok(status >= 400 && status <= 599, JSON.stringify(result));
    } catch (error) {
      if (!(error instanceof WebhookError || error instanceof InvalidReview)) throw error;
    }
  }
  assert.deepEqual(server.failures, []);
});

const conversion = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "ConversionReview",
  response: {
    uid: "u",
    result: { status: "Success", message: "m" },
    convertedObjects: [{ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" } }],
  },
};

test(`an answer of a converter is accepted or rejected, SEED=${seed}`, { timeout: 1_200_000 }, () => {
  for (let at = 0; at < counts.converter; at++) {
    try {
      assert.ok(Array.isArray(readReview(randomAnswer(conversion), { version: "v1", uid: "u" })));
    } catch (error) {
      if (!(error instanceof WebhookError || error instanceof ReviewProblem)) throw error;
    }
  }
});

test(`a message of etcd is decoded or rejected, SEED=${seed}`, { timeout: 1_200_000 }, () => {
  for (let at = 0; at < counts.etcd; at++) {
    const bytes = Buffer.from(
      Array.from({ length: random(60) }, () =>
        random(3) === 0 ? random(256) : pick([8, 10, 16, 18, 26, 34, 90, 1, 2, 0]),
      ),
    );
    try {
      decodeMessage(pick([rangeResponse, txnResponse, watchResponse]), bytes);
    } catch (error) {
      if (!(error instanceof ProtobufError)) throw error;
    }
  }
});
