/** ImagePolicyWebhook: what the webhook receives, its answers and failures, and which answers are kept. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import type { WebhookAnswer } from "../../../../../test/support/scripted-webhook.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const path = "/image-policy";
const merge = "application/merge-patch+json";

const review = (status: Sent | undefined, fields: Sent = {}): WebhookAnswer => ({
  text: JSON.stringify({
    apiVersion: "imagepolicy.k8s.io/v1alpha1",
    kind: "ImageReview",
    ...(status !== undefined && { status }),
    ...fields,
  }),
});
const allow = review({ allowed: true });
const status = (code: number, reason: string, fields: Sent = {}): WebhookAnswer => ({
  code,
  text: JSON.stringify({
    apiVersion: "v1",
    kind: "Status",
    status: "Failure",
    message: `is ${reason}`,
    reason,
    code,
    ...fields,
  }),
});

const pod = (spec: Sent = {}, metadata: Sent = {}): Sent => ({
  metadata: { name: "p", ...metadata },
  spec: { containers: [{ name: "c", image: "example.com/a:1" }], ...spec },
});
const createPod = (inNamespace: string, spec?: Sent, metadata?: Sent, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "pods")}${query}`, pod(spec, metadata));
const scenario = (
  name: string,
  answers: readonly WebhookAnswer[],
  requests: (name: string) => readonly AdmissionRequest[],
): Scenario => ({ name, setup: [namespace(name)], answers: { [path]: answers }, requests: requests(name) });

const c = (name: string, image?: string): Sent => ({ name, ...(image !== undefined && { image }) });

/** What is reviewed, and what is not. */
const reviewed = scenario("reviewed", [allow], (name) => {
  const one = core(name, "pods", "one");
  const strategic = "application/strategic-merge-patch+json";
  const ephemeral = (image: string): Sent => ({ spec: { ephemeralContainers: [c(`e-${image}`, image)] } });
  return [
    createPod(name, {}, { name: "one" }),
    createPod(
      name,
      { containers: [c("b", "b"), c("a", "a"), c("d", "b")], initContainers: [c("i", "i")] },
      { name: "two" },
    ),
    createPod(
      name,
      {},
      {
        name: "annotated",
        annotations: {
          "z.image-policy.k8s.io/ticket": "1",
          "a.image-policy.k8s.io/b": "<é>",
          "image-policy.k8s.io/c": "no",
          "x/a.image-policy.k8s.io/y": "?",
          other: "no",
        },
      },
    ),
    createPod(name, { volumes: [{ name: "v", image: { reference: "example.com/v" } }] }, { name: "volume" }),
    createPod(name, {}, { name: "dry" }, "?dryRun=All"),
    createPod(name, { containers: [c("x", "generated")] }, { name: "", generateName: "generated-" }),
    createPod(name, { containers: [c("x")] }, { name: "no-image" }),
    createPod(name, { containers: [] }, { name: "no-containers" }),
    createPod(name, { containers: [c("x", "gated")], schedulingGates: [{ name: "a.com/b" }] }, { name: "gated" }),
    request(`PATCH ${one}`, { metadata: { labels: { a: "b" } } }, merge),
    request(`PATCH ${one}`, { spec: { containers: [c("c", "example.com/a:2")] } }, strategic),
    request(`PATCH ${one}`, { metadata: { annotations: { "a.image-policy.k8s.io/b": "new" } } }, merge),
    request(`PATCH ${one}/ephemeralcontainers`, ephemeral("debug"), strategic),
    request(`PATCH ${one}/ephemeralcontainers`, ephemeral("debug2"), strategic),
    request(`PATCH ${one}/status`, { status: { message: "m" } }, merge),
    request(
      `PATCH ${one}/resize`,
      { spec: { containers: [{ name: "c", resources: { limits: { cpu: "1" } } }] } },
      strategic,
    ),
    request(`POST ${one}/binding`, { metadata: { name: "one" }, target: { kind: "Node", name: "n" } }),
    request(`DELETE ${one}?gracePeriodSeconds=0`),
    request(`POST ${core(name, "replicationcontrollers")}`, {
      metadata: { name: "rc" },
      spec: { selector: { a: "b" }, template: { metadata: { labels: { a: "b" } }, spec: pod().spec } },
    }),
  ];
});

const answers: Readonly<Record<string, readonly WebhookAnswer[]>> = {
  allowed: [allow],
  "allowed-with-reason": [review({ allowed: true, reason: "fine" })],
  denied: [review({ allowed: false })],
  "denied-with-reason": [review({ allowed: false, reason: "too old" })],
  annotations: [review({ allowed: true, auditAnnotations: { a: "1", "b.c": "2" } })],
  "annotations-denied": [review({ allowed: false, reason: "no", auditAnnotations: { a: "1" } })],
  "annotations-invalid": [review({ allowed: true, auditAnnotations: { "a b": "1", "": "2", "x/y": "3", ok: "4" } })],
  "no-status": [review(undefined)],
  "null-status": [review(undefined, { status: null })],
  "null-allowed": [review({ allowed: null })],
  "text-allowed": [review({ allowed: "true" })],
  "number-reason": [review({ allowed: false, reason: 1 })],
  "unknown-field": [review({ allowed: true, other: 1 }, { more: 2 })],
  "other-kind": [review({ allowed: true }, { kind: "PodReview" })],
  "other-version": [review({ allowed: true }, { apiVersion: "imagepolicy.k8s.io/v1" })],
  "no-kind": [{ text: '{"apiVersion":"imagepolicy.k8s.io/v1alpha1","status":{"allowed":true}}' }],
  "no-type": [{ text: '{"status":{"allowed":true}}' }],
  "as-yaml": [{ text: "status:\n  allowed: true\n" }],
  "status-object": [status(200, "Forbidden")],
  empty: [{ text: "" }],
  "empty-object": [{ text: "{}" }],
  list: [{ text: "[]" }],
  "broken-json": [{ text: '{"a":' }],
  text: [{ text: "no" }],
  created: [{ ...allow, code: 201 }],
  "http-206": [{ ...allow, code: 206 }],
  "http-207": [{ ...allow, code: 207 }],
  "http-204": [{ text: "", code: 204 }],
  ...Object.fromEntries(
    [400, 401, 403, 404, 409, 418, 422, 501, 502, 503].map((code) => [`http-${code}`, [{ text: "no", code }]]),
  ),
  "status-403": [status(403, "Forbidden")],
  "status-404": [status(404, "NotFound")],
  "retried-500": [{ text: "no", code: 500 }, { text: "no", code: 500 }, allow],
  "retried-429": [{ text: "no", code: 429 }, allow],
  "retried-504": [{ text: "no", code: 504 }, allow],
  "always-500": [{ text: "no", code: 500 }],
  "always-429": [status(429, "TooManyRequests")],
  closed: [{ ends: "close" }, allow],
};

/** Each answer to a pod, twice, so that a kept answer shows. */
const answered = Object.entries(answers).map(([name, list]) =>
  scenario(`answer-${name}`, list, (inNamespace) => [
    createPod(inNamespace, {}, { name: "a" }),
    createPod(inNamespace, {}, { name: "b" }),
  ]),
);

/** Equal questions of pods that differ in other fields. */
const kept = scenario("kept", [allow], (name) => [
  createPod(name, {}, { name: "a" }),
  createPod(name, { restartPolicy: "Never" }, { name: "b", labels: { a: "b" }, annotations: { other: "x" } }),
  createPod(name, {}, { name: "c", annotations: { "a.image-policy.k8s.io/b": "x" } }),
  createPod(name, { containers: [c("c", "example.com/a:1"), c("d", "example.com/a:1")] }, { name: "d" }),
  createPod(name, { containers: [c("c", "x")], initContainers: [c("i", "example.com/a:1")] }, { name: "e" }),
  createPod(name, { containers: [c("c", "x"), c("i", "example.com/a:1")] }, { name: "f" }),
]);

const family = (defaultAllow: boolean, scenarios: readonly Scenario[]): Family => ({
  plugins: {
    enable: ["ImagePolicyWebhook"],
    disable: otherPlugins,
    webhookPath: path,
    configurations: {
      ImagePolicyWebhook: {
        imagePolicy: { kubeConfigFile: "$KUBECONFIG", allowTTL: 1000, denyTTL: 1000, retryBackoff: 1, defaultAllow },
      },
    },
  },
  setup: [],
  scenarios,
});

export const imagePolicies = family(false, [reviewed, ...answered, kept]);
export const imagePoliciesFailingOpen = family(true, answered);
