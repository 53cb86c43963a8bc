/** Every kind of answer of a webhook, valid or not, of both types of webhooks and with both failure policies. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import type { WebhookAnswer } from "../../../../../test/support/scripted-webhook.ts";
import {
  createConfigMap,
  type Family,
  mutatingWebhooks,
  namespace,
  onlyNamespace,
  updateConfigMap,
  validatingWebhooks,
  webhook,
} from "./builders.ts";

const denied = (status?: Sent): WebhookAnswer => ({
  response: { allowed: false, ...(status !== undefined && { status }) },
});
const longText = "w".repeat(5000);

/** A name, the answer, and fields of the webhook. */
type Case = readonly [name: string, answer: WebhookAnswer, webhook?: Sent];

const answers: readonly Case[] = [
  ["allowed", {}],
  ["allowed-with-status", { response: { status: { message: "ignored", code: 299 } } }],
  ["denied", denied()],
  ["denied-empty-status", denied({})],
  ["denied-message", denied({ message: "not this one" })],
  ["denied-reason", denied({ reason: "Teapot" })],
  ["denied-message-and-reason", denied({ message: "m", reason: "Invalid" })],
  ["denied-code-400", denied({ code: 400, message: "m" })],
  ["denied-code-404", denied({ code: 404, reason: "NotFound" })],
  ["denied-code-422", denied({ code: 422, message: "m", reason: "Invalid" })],
  ["denied-code-429", denied({ code: 429, message: "m", details: { retryAfterSeconds: 3 } })],
  ["denied-code-500", denied({ code: 500, message: "m", reason: "InternalError" })],
  ["denied-code-200", denied({ code: 200, message: "m" })],
  ["denied-code-302", denied({ code: 302, message: "m" })],
  ["denied-code-600", denied({ code: 600, message: "m" })],
  ["denied-status-success", denied({ status: "Success", code: 403, message: "m" })],
  ["denied-status-failure", denied({ status: "Failure", code: 403, message: "m" })],
  ["denied-details", denied({ message: "m", details: { name: "n", causes: [{ field: "f", message: "c" }] } })],
  ["denied-metadata", denied({ message: "m", metadata: { continue: "c", resourceVersion: "7" } })],
  ["denied-line-breaks", denied({ message: 'two\nlines and "quotes" <&> \u0007 ü' })],
  ["warnings", { response: { warnings: ["first", "second", "", "first"] } }],
  ["warnings-and-denied", { response: { allowed: false, warnings: ["why"], status: { message: "m" } } }],
  ["warnings-special", { response: { warnings: ['with "quotes" and \\', "two\nlines", "ü and \u0007"] } }],
  ["warnings-long", { response: { warnings: [longText, "short"] } }],
  [
    "warnings-many",
    { response: { warnings: Array.from({ length: 60 }, (_, index) => `${index}:${"x".repeat(100)}`) } },
  ],
  ["annotations", { response: { auditAnnotations: { "example.com/key": "value", plain: "v", "": "empty" } } }],
  ["annotations-invalid", { response: { auditAnnotations: { "two/parts/key": "v", "not valid": "v", ok: "v" } } }],
  ["annotations-denied", { response: { allowed: false, auditAnnotations: { why: "v" } } }],
  ["uid-wrong", { response: { uid: "other" } }],
  ["uid-empty", { response: { uid: "" } }],
  ["uid-null", { response: { uid: null } }],
  ["denied-uid-wrong", { response: { allowed: false, uid: "other" } }],
  ["kind-wrong", { review: { kind: "Review" } }],
  ["kind-absent", { omit: ["kind"] }],
  ["version-wrong", { review: { apiVersion: "admission.k8s.io/v1beta1" } }],
  ["version-unknown", { review: { apiVersion: "admission.k8s.io/v9" } }],
  ["version-absent", { omit: ["apiVersion"] }],
  ["kind-status", { review: { apiVersion: "v1", kind: "Status" } }],
  ["kind-pod", { text: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}' }],
  ["response-absent", { omit: ["response"] }],
  ["response-null", { review: { response: null } }],
  ["response-text", { review: { response: "yes" } }],
  ["allowed-text", { response: { allowed: "true" } }],
  ["allowed-absent", { omit: ["response.allowed"] }],
  ["unknown-fields", { response: { extra: 1 }, review: { more: 2 } }],
  ["with-request", { review: { request: { uid: "x" } } }],
  ["body-empty", { text: "" }],
  ["body-null", { text: "null" }],
  ["body-object", { text: "{}" }],
  ["body-list", { text: "[]" }],
  ["body-garbage", { text: "not json" }],
  ["body-half", { text: '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionRev' }],
  ["body-html", { text: "<html>busy</html>", headers: { "content-type": "text/html" } }],
  ["body-yaml", { text: "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {allowed: true}\n" }],
  ["content-type-text", { headers: { "content-type": "text/plain" } }],
  ["content-type-yaml", { headers: { "content-type": "application/yaml" } }],
  ["content-type-protobuf", { headers: { "content-type": "application/vnd.kubernetes.protobuf" } }],
  ["http-201", { code: 201 }],
  ["http-204", { code: 204, text: "" }],
  ["http-206", { code: 206 }],
  ["http-301", { code: 301, headers: { location: "/v/elsewhere" }, text: "" }],
  ["http-302-external", { code: 302, headers: { location: "https://127.0.0.1:1/x" }, text: "" }],
  ["http-307", { code: 307, headers: { location: "/v/elsewhere" }, text: "" }],
  ["http-400", { code: 400 }],
  ["http-400-text", { code: 400, text: "bad request" }],
  ["http-401", { code: 401, text: "who" }],
  [
    "http-403-status",
    {
      code: 403,
      text: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"s","reason":"Forbidden","code":403}',
    },
  ],
  ["http-404", { code: 404, text: "404 page not found\n" }],
  ["http-405", { code: 405, text: "" }],
  ["http-409", { code: 409, text: "c" }],
  ["http-413", { code: 413, text: "large" }],
  ["http-415", { code: 415, text: "type" }],
  ["http-422", { code: 422, text: "u" }],
  ["http-429", { code: 429, text: "slow" }],
  ["http-500", { code: 500, text: "oops" }],
  ["http-500-review", { code: 500 }],
  [
    "http-500-status",
    {
      code: 500,
      text: '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"inside","reason":"InternalError","code":500}',
    },
  ],
  ["http-502", { code: 502, text: "<html>gateway</html>", headers: { "content-type": "text/html" } }],
  ["http-503", { code: 503, text: "unavailable\n" }],
  ["http-504", { code: 504, text: "" }],
  ["http-500-long", { code: 500, text: "long ".repeat(1000) }],
  ["close", { ends: "close" }],
  ["hang", { ends: "hang" }, { timeoutSeconds: 1 }],
  ["refused-connection", {}, { clientConfig: { url: "https://127.0.0.1:1/v/x", caBundle: "$CA" } }],
  ["unknown-authority", {}, { clientConfig: { url: "$WEBHOOK/v/x" } }],
  ["service-absent", {}, { clientConfig: { service: { namespace: "services", name: "absent" }, caBundle: "$CA" } }],
  ["service-namespace-absent", {}, { clientConfig: { service: { namespace: "absent", name: "a", path: "/p" } } }],
  [
    "service-port-absent",
    {},
    { clientConfig: { service: { namespace: "services", name: "hooks", port: 99 }, caBundle: "$CA" } },
  ],
  [
    "service-external",
    {},
    {
      clientConfig: {
        service: { namespace: "services", name: "hooks", path: "/v/service", port: "$PORT" },
        caBundle: "$CA",
      },
    },
  ],
  [
    "service-path",
    {},
    {
      clientConfig: {
        service: { namespace: "services", name: "hooks", path: "/v/a.b/c-d", port: "$PORT" },
        caBundle: "$CA",
      },
    },
  ],
  [
    "service-name-not-in-certificate",
    {},
    { clientConfig: { service: { namespace: "services", name: "other", port: "$PORT" }, caBundle: "$CA" } },
  ],
  ["patch-when-validating", { patch: [{ op: "add", path: "/data", value: { a: "1" } }] }],
  ["patch-type-without-patch", { response: { patchType: "JSONPatch" } }],
];

/** With the old version of reviews, most checks do not exist. */
const oldAnswers = answers.filter(([name]) => /^(?:allowed|denied-m|uid|kind|version|response|patch)/.test(name));

interface Variant {
  readonly prefix: string;
  readonly isMutating?: boolean;
  readonly cases: readonly Case[];
  readonly fields: Sent;
  readonly requests: (ns: string) => readonly AdmissionRequest[];
}

const one = (ns: string): AdmissionRequest[] => [createConfigMap(ns, "a")];
const update = (ns: string): AdmissionRequest[] => [
  createConfigMap(ns, "b", {}, "?dryRun=All"),
  updateConfigMap(ns, "existing", { data: { a: "1" } }),
];

const variants: readonly Variant[] = [
  { prefix: "validating", cases: answers, fields: {}, requests: update },
  { prefix: "mutating", isMutating: true, cases: answers, fields: {}, requests: update },
  { prefix: "ignored", cases: answers, fields: { failurePolicy: "Ignore" }, requests: one },
  { prefix: "ignored-mutating", isMutating: true, cases: answers, fields: { failurePolicy: "Ignore" }, requests: one },
  { prefix: "old", cases: oldAnswers, fields: { admissionReviewVersions: ["v1beta1"] }, requests: one },
  {
    prefix: "old-mutating",
    isMutating: true,
    cases: oldAnswers,
    fields: { admissionReviewVersions: ["v0", "v1beta1", "v1"] },
    requests: one,
  },
];

/** All webhooks of a variant are in one configuration: each has a namespace. */
function scenarioOf({ prefix, isMutating = false, cases, fields, requests }: Variant): Scenario {
  const letter = isMutating ? "m" : "v";
  const nameOf = (name: string): string => `${prefix}-${name}`;
  const webhooks = cases.map(([name, , more]) =>
    webhook(`/${letter}/${name}`, { namespaceSelector: onlyNamespace(nameOf(name)), ...fields, ...more }),
  );
  const existing = (ns: string): readonly [string, Sent] => [
    `/api/v1/namespaces/${ns}/configmaps`,
    { metadata: { name: "existing" } },
  ];
  return {
    name: prefix,
    setup: [
      ...cases.flatMap(([name]) => [namespace(nameOf(name)), existing(nameOf(name))]),
      (isMutating ? mutatingWebhooks : validatingWebhooks)(prefix, webhooks),
    ],
    answers: Object.fromEntries(cases.map(([name, answer]) => [`/${letter}/${name}`, [answer]])),
    requests: cases.flatMap(([name]) => requests(nameOf(name))),
  };
}

const external = (name: string): readonly [string, Sent] => [
  "/api/v1/namespaces/services/services",
  {
    metadata: { name },
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ name: "https", port: 443 }] },
  },
];

export const webhookAnswers: Family = {
  setup: [namespace("services"), external("hooks"), external("other")],
  scenarios: variants.map(scenarioOf),
};
