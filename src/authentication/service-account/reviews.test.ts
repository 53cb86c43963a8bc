/**
 * TokenReviews of valid and forged service account tokens. Results equal upstream's, as recorded by
 * tools/golden/kubernetes/service-account-tokens.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Clock } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { loopbackUser } from "../../apimachinery/system-user.ts";
import { tokenReview } from "../../apis/authentication/token-review.ts";
import { joinErrors } from "../../lib/json/quote.ts";
import { forOwnAudiences } from "../token-audiences.ts";
import { tokenFileAuthenticator } from "../token-file.ts";
import { tokenUnion } from "../token-union.ts";
import { readPublicKeys, staticKeys } from "./keys.ts";
import type { LiveObjects } from "./live-objects.ts";
import { serviceAccountTokens } from "./token.ts";

type Kind = "serviceaccounts" | "pods" | "secrets" | "nodes";
interface World extends Readonly<Record<Kind, Readonly<Record<string, KubeObject>>>> {
  readonly now: number;
  readonly issuer: string;
  readonly audiences: string[];
  readonly keys: string[];
}

interface Row {
  readonly what: string;
  readonly token: string;
  readonly audiences?: string[];
  readonly status: object & { readonly error?: string };
}

const [world, ...rows] = readFileSync(join(import.meta.dirname, "testdata/reviews.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line)) as [World, ...Row[]];

/**
 * Rows with a different message or a stricter check: a foreign subject, claims of other types, a token of spaces.
 */
const ours: Readonly<Record<string, string>> = {
  spaces: "",
  "spaces for others": "",
  "a token after a space": "",
  "a subject of others": "service account claims are missing",
  "another namespace": "service account claims are missing",
  "no kubernetes.io": "service account claims are missing",
  "kubernetes.io is a text": "service account claims are missing",
  "a pod that is a text": "service account claims are missing",
  "an end that is no number": "service account token claims could not be validated",
};

const read: LiveObjects["read"] = (resource, namespace, name) =>
  world[resource as Kind][namespace === "" ? name : `${namespace}/${name}`];
const live: LiveObjects = {
  read,
  find(resource, namespace, name) {
    const { uid = "", deletionTimestamp } = read(resource, namespace, name)?.metadata ?? {};
    return uid === ""
      ? undefined
      : { uid, deletedAt: deletionTimestamp === undefined ? undefined : Date.parse(deletionTimestamp) };
  },
  async waitUntilCurrent() {},
};
const clock: Clock = { now: () => world.now, after: () => () => {} };
const { audiences } = world;
const authenticate = tokenUnion([
  forOwnAudiences(tokenFileAuthenticator("static,eve,7,a", "f"), audiences),
  serviceAccountTokens({
    keys: staticKeys(world.keys.flatMap((pem) => readPublicKeys(pem, ""))),
    issuers: [world.issuer],
    apiAudiences: audiences,
    lookup: true,
    live,
    clock,
  }),
]);
const review = tokenReview({ authenticate, audiences });

for (const { what, token, audiences: requested, status } of rows) {
  test(`TokenReview: ${what}`, async () => {
    const sent = {
      apiVersion: "",
      kind: "",
      metadata: {},
      spec: { token, ...(requested && { audiences: requested }) },
    };
    review.check(sent, "");
    const answer = await review.answer(sent, loopbackUser);
    const ownError = ours[what];
    const errors = ["invalid bearer token", ...(ownError ? [ownError] : [])];
    const want = ownError === undefined ? status : { user: {}, error: joinErrors(errors) };
    assert.deepEqual(withoutEmpty(answer.status), want);
    if (ownError !== undefined) assert.notDeepEqual(want, status, "the row is equal to upstream's");
  });
}

/** Removes empty fields, as encoding with the schema does. */
function withoutEmpty(value: KubeObject["status"]): unknown {
  const { user, ...rest } = value;
  const { uid, extra, ...identity } = user;
  return {
    ...rest,
    user: { ...identity, ...(uid && { uid }), ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }) },
  };
}
