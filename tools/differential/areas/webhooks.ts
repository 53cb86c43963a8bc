/** Admission webhooks that answer in many ways, for the namespace of the sequence. */
import type { WebhookAnswer } from "../../../test/support/scripted-webhook.ts";
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { pathOfAnswer } from "../webhook.ts";
import { patchTypes, query, writeQuery } from "./steps.ts";

type Json = Record<string, unknown>;

const place = "/apis/admissionregistration.k8s.io/v1";
const core = "/api/v1/namespaces/$ns";
const own = { matchLabels: { "kubernetes.io/metadata.name": "$ns" } };

export const webhooks: Area = {
  name: "webhooks",
  make(random) {
    const type = random.chance(0.5) ? "validating" : "mutating";
    // Upstream calls validating webhooks at the same time, and answers with the first error.
    const hooks = Array.from({ length: type === "mutating" ? 1 + random.below(2) : 1 }, (_, at) =>
      hook(type, at, random),
    );
    const steps: Step[] = [
      { method: "POST", path: `${core}/configmaps`, body: { metadata: { name: "old" }, data: { a: "1" } } },
      {
        method: "POST",
        path: `${place}/${type}webhookconfigurations`,
        body: { metadata: { name: "$ns-a" }, webhooks: hooks },
      },
      ...settled(type),
    ];
    for (let times = 6 + random.below(6); times > 0; times--) steps.push(operation(random));
    return steps;
  },
};

const answers: readonly WebhookAnswer[] = [
  {},
  { response: { allowed: false } },
  { response: { allowed: false, status: { message: "not so", code: 418, reason: "Conflict" } } },
  { response: { allowed: false, status: { code: 200 } } },
  { response: { allowed: false, status: { message: "", details: { causes: [{ field: "a", message: "b" }] } } } },
  { response: { warnings: ["careful", "x".repeat(300), "line\nbreak", ""] } },
  { response: { auditAnnotations: { a: "b" } } },
  { response: { uid: "other" } },
  { review: { kind: "Other" } },
  { review: { apiVersion: "admission.k8s.io/v2" } },
  { omit: ["response"] },
  { omit: ["response.allowed"] },
  { text: "" },
  { text: "{" },
  { text: "null" },
  { code: 500, text: "broken" },
  { code: 404 },
  { code: 301, headers: { location: "https://127.0.0.1:1/" } },
  { ends: "close" },
];
const patches: readonly unknown[] = [
  [{ op: "add", path: "/metadata/labels", value: { added: "yes" } }],
  [{ op: "add", path: "/data", value: { a: "hooked" } }],
  [{ op: "replace", path: "/data/missing", value: "x" }],
  [{ op: "add", path: "/metadata/labels", value: { "-bad": "yes" } }],
  [{ op: "replace", path: "/metadata/name", value: "other" }],
  [{ op: "add", path: "/unknown", value: 1 }],
  [{ op: "add", path: "/data", value: { a: 1 } }],
  [{ op: "remove", path: "/metadata" }],
  [{ op: "replace", path: "/kind", value: "Secret" }],
  [],
  "not a patch",
  { a: 1 },
];

function answerOf(type: string, random: Random): WebhookAnswer {
  if (type === "mutating" && random.chance(0.5)) return { patch: random.pick(patches) };
  if (random.chance(0.03)) return { patch: patches[0], response: { patchType: "Other" } };
  return random.pick(answers);
}

function hook(type: string, at: number, random: Random): Json {
  const conditions = [
    {
      name: "m",
      expression: random.pick(["object.metadata.name != 'c'", "object.data['z'] == 'z'", "request.dryRun != true"]),
    },
  ];
  return {
    name: `h${at}.example.com`,
    clientConfig: { url: `$WEBHOOK${pathOfAnswer(answerOf(type, random))}`, caBundle: "$CA" },
    admissionReviewVersions: random.pick([["v1"], ["v1", "v1beta1"], ["v1beta1"], ["v2", "v1"]]),
    sideEffects: random.pick(["None", "None", "NoneOnDryRun"]),
    failurePolicy: random.pick(["Fail", "Fail", "Ignore"]),
    matchPolicy: random.pick(["Exact", "Equivalent"]),
    namespaceSelector: own,
    ...(random.chance(0.2) && { objectSelector: { matchLabels: { a: "b" } } }),
    ...(random.chance(0.25) && { matchConditions: conditions }),
    ...(type === "mutating" && { reinvocationPolicy: random.pick(["Never", "IfNeeded"]) }),
    rules: [
      {
        apiGroups: [""],
        apiVersions: ["v1"],
        operations: random.pick([["*"], ["CREATE"], ["CREATE", "UPDATE"], ["DELETE"]]),
        resources: ["configmaps"],
      },
    ],
  };
}

/** The configuration that is created last denies a marker when the earlier one is active, too. */
function settled(type: string): Step[] {
  const marker = {
    name: "marker.example.com",
    clientConfig: {
      url: `$WEBHOOK${pathOfAnswer({ response: { allowed: false, status: { code: 418 } } })}`,
      caBundle: "$CA",
    },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    namespaceSelector: own,
    objectSelector: { matchLabels: { marker: "yes" } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
  };
  return [
    {
      method: "POST",
      path: `${place}/${type}webhookconfigurations`,
      body: { metadata: { name: "$ns-q" }, webhooks: [marker] },
      silent: true,
    },
    {
      method: "POST",
      path: `${core}/secrets?dryRun=All`,
      body: { metadata: { name: "marker", labels: { marker: "yes" } } },
      until: 418,
      silent: true,
    },
  ];
}

function operation(random: Random): Step {
  const name = random.pick(["a", "b", "c", "old"]);
  const body = {
    metadata: { name, ...(random.chance(0.4) && { labels: { a: "b" } }) },
    data: random.pick<unknown>([undefined, { a: "1" }, { z: "z" }]),
  };
  const roll = random.below(9);
  if (roll < 4) return { method: "POST", path: `${core}/configmaps${writeQuery(random)}`, body };
  if (roll < 5) return { method: "PUT", path: `${core}/configmaps/${name}${writeQuery(random)}`, body };
  if (roll < 6)
    return { method: "DELETE", path: `${core}/configmaps/${name}${query(random.chance(0.2) && "dryRun=All")}` };
  if (roll < 7)
    return {
      method: "PATCH",
      path: `${core}/configmaps/${name}?fieldManager=m`,
      headers: { "content-type": patchTypes.apply },
      body: { apiVersion: "v1", kind: "ConfigMap", ...body },
    };
  if (roll < 8)
    return {
      method: "PATCH",
      path: `${core}/configmaps/${name}`,
      headers: { "content-type": patchTypes.merge },
      body: { data: { b: "2" } },
    };
  return { method: "GET", path: `${core}/configmaps/${name}` };
}
