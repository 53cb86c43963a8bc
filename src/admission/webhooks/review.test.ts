/** The bytes of reviews, and the messages for responses. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { WebhookAnswer } from "../../webhook/contract.ts";
import type { ReviewVersion } from "./contract.ts";
import { denial, type SentStatus } from "./denial.ts";
import { encodeReview } from "./review-request.ts";
import { readResponse } from "./review-response.ts";

const attributes = {
  operation: "UPDATE",
  target: {
    resource: { definition: { group: "apps", resource: "deployments", kind: "Deployment" } },
    version: { version: "v1", subresources: [] },
  },
  subresource: "",
  namespace: "team",
  name: "a<b",
  user: { name: "jane", uid: "", groups: ["devs"], extra: new Map([["scopes", ["x&y"]]]) },
  dryRun: false,
  options: () => ({ kind: "UpdateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "m" }),
} as unknown as AdmissionAttributes;
const match = {
  resource: { group: "extensions", version: "v1beta1", resource: "deployments" },
  kind: { group: "extensions", version: "v1beta1", kind: "Deployment" },
};
const matched =
  '"kind":{"group":"extensions","version":"v1beta1","kind":"Deployment"},"resource":{"group":"extensions","version":"v1beta1","resource":"deployments"}';
const requested =
  '"requestKind":{"group":"apps","version":"v1","kind":"Deployment"},"requestResource":{"group":"apps","version":"v1","resource":"deployments"}';

const requests: [
  what: string,
  change: object,
  objects: [string?, string?],
  version: ReviewVersion,
  expected: string,
][] = [
  [
    "an update of an equivalent resource",
    {},
    ['{"a":1}', '{"a":0}'],
    "v1",
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",${matched},${requested},"name":"a\\u003cb","namespace":"team","operation":"UPDATE","userInfo":{"username":"jane","groups":["devs"],"extra":{"scopes":["x\\u0026y"]}},"object":{"a":1},"oldObject":{"a":0},"dryRun":false,"options":{"kind":"UpdateOptions","apiVersion":"meta.k8s.io/v1","fieldManager":"m"}}}\n`,
  ],
  [
    "a connection of a user without groups",
    {
      operation: "CONNECT",
      subresource: "x",
      namespace: "",
      name: "",
      user: { name: "", uid: "7", groups: [], extra: new Map() },
      options: () => null,
      dryRun: true,
    },
    [],
    "v1beta1",
    `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1","request":{"uid":"u",${matched},"subResource":"x",${requested},"requestSubResource":"x","operation":"CONNECT","userInfo":{"uid":"7"},"object":null,"oldObject":null,"dryRun":true,"options":null}}\n`,
  ],
];

for (const [what, change, [object, oldObject], version, expected] of requests) {
  test(`encodes a review of ${what}`, () => {
    const bytes = (text: string | undefined): Buffer | undefined =>
      text === undefined ? undefined : Buffer.from(text);
    const options = { version, uid: "u", match, object: bytes(object), oldObject: bytes(oldObject) };
    assert.equal(String(encodeReview({ ...attributes, ...change }, options)), expected);
  });
}

const review = (response?: object, rest: object = {}): object => ({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  ...(response !== undefined && { response: { uid: "u", allowed: true, ...response } }),
  ...rest,
});
const old = { apiVersion: "admission.k8s.io/v1beta1" };
const patch = Buffer.from("[]").toString("base64");

/** An expected text is the message of an error. */
const responses: [
  what: string,
  version: ReviewVersion,
  mutating: boolean,
  body: object | string,
  expected: object | string,
][] = [
  ["allowed", "v1", true, review({}), { allowed: true }],
  ["absent", "v1", true, review(), "webhook response was absent"],
  ["absent, v1beta1", "v1beta1", true, review(undefined, old), "webhook response was absent"],
  ["another uid", "v1", true, review({ uid: "w" }), 'expected response.uid="u", got "w"'],
  ["another uid, v1beta1", "v1beta1", true, review({ uid: "w" }, old), { allowed: true }],
  [
    "without kind and version",
    "v1",
    true,
    { response: { uid: "u", allowed: true } },
    "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
  ],
  ["without kind and version, v1beta1", "v1beta1", true, { response: { allowed: true } }, { allowed: true }],
  [
    "the other version",
    "v1",
    true,
    review({}, old),
    "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
  ],
  [
    "another kind",
    "v1",
    true,
    { apiVersion: "v1", kind: "Pod" },
    'no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  ["a patch without type", "v1", true, review({ patch }), "webhook returned response.patch but not response.patchType"],
  [
    "a type without patch",
    "v1",
    true,
    review({ patchType: "JSONPatch" }),
    "webhook returned response.patchType but not response.patch",
  ],
  ["an empty type", "v1", true, review({ patch, patchType: "" }), 'webhook returned invalid response.patchType of ""'],
  ["a patch without type, v1beta1", "v1beta1", true, review({ patch }, old), { allowed: true, patch: "[]" }],
  [
    "a patch of a validating webhook",
    "v1",
    false,
    review({ patch }),
    "validating webhook may not return response.patch",
  ],
  [
    "a type of a validating webhook",
    "v1",
    false,
    review({ patchType: "JSONPatch" }),
    "validating webhook may not return response.patchType",
  ],
  ["a patch of a validating webhook, v1beta1", "v1beta1", false, review({ patch }, old), { allowed: true, patch: "" }],
  [
    "a field of another type",
    "v1",
    true,
    review({ allowed: "yes" }),
    "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
  ],
  ["nothing", "v1", true, "", "0-length response with status code: 200 and content type: application/json"],
];

for (const [what, version, isMutating, body, expected] of responses) {
  test(`reads a response: ${what}`, () => {
    const answer: WebhookAnswer = {
      status: 200,
      headers: { "content-type": "application/json" },
      body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    };
    const read = (): ReturnType<typeof readResponse> => readResponse(answer, { version, uid: "u", isMutating });
    if (typeof expected === "string") return assert.throws(read, { message: expected });
    const { allowed, patch: bytes } = read();
    assert.deepEqual({ allowed, patch: String(bytes) }, { patch: "", ...expected });
  });
}

const denied = 'admission webhook "w" denied the request';
const denials: [sent: SentStatus | undefined, code: number, message: string, status?: string][] = [
  [undefined, 400, `${denied} without explanation`],
  [{ message: "no" }, 400, `${denied}: no`],
  [{ reason: "Forbidden" }, 400, `${denied}: Forbidden`],
  [{ message: "no", reason: "Forbidden", code: 403 }, 403, `${denied}: no`],
  [{ code: 399 }, 400, `${denied} without explanation`],
  [{ code: 599 }, 599, `${denied} without explanation`],
  [{ status: "Success" }, 400, `${denied} without explanation`],
  [{ status: "custom" }, 400, `${denied} without explanation`, "custom"],
];

for (const [sent, code, message, status] of denials) {
  test(`denies with ${JSON.stringify(sent)}`, () => {
    const error = denial("w", sent).status;
    assert.deepEqual([error.code, error.message, error.status], [code, message, status]);
  });
}
