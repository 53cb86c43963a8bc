/**
 * Random combinations of webhooks and policies from a fixed seed. At most one validating webhook and one policy reject, because upstream does
 * not order rejections: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
import type { AdmissionRequest, Scenario, Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";
import type { WebhookAnswer } from "../../../../../test/support/scripted-webhook.ts";
import { seededRandom } from "../../../../../test/support/seeded-random.ts";
import {
  applyConfigMap,
  configMapRule,
  core,
  createConfigMap,
  deleteConfigMap,
  type Family,
  mutatingBinding,
  mutatingPolicy,
  mutatingWebhooks,
  namespace,
  onlyNamespace,
  patchConfigMap,
  request,
  updateConfigMap,
  validatingBinding,
  validatingPolicy,
  validatingWebhooks,
  webhook,
} from "./builders.ts";
import { rights } from "./policies.ts";

type Random = (below: number) => number;

const scenarioCount = 60;
const requestCount = 7;
const names = ["a", "b", "c"];

const pick = <Value>(random: Random, list: readonly Value[]): Value => list[random(list.length)] as Value;
const sometimes = (random: Random, fields: Sent): Sent => (random(3) === 0 ? fields : {});

const operations = [["*"], ["*"], ["CREATE"], ["UPDATE"], ["DELETE"], ["CREATE", "UPDATE"]];
const conditions = [
  "true",
  "request.operation != 'UPDATE'",
  "object != null && object.metadata.name == 'a'",
  "has(object.data) && has(object.data.a)",
  "oldObject == null || has(oldObject.data)",
  "object.metadata.labels.tier == 'a'",
  "request.userInfo.username == 'golden-user'",
];
const failingAnswers: readonly WebhookAnswer[] = [
  { response: { allowed: false } },
  { response: { allowed: false, status: { message: "rejected", code: 409, reason: "Conflict" } } },
  { code: 500, text: "broken" },
  { text: "{}" },
  { response: { uid: "other" } },
];

/** Fields that limit when a webhook is called. */
const limits = (random: Random, ns: string): Sent => ({
  rules: [{ ...configMapRule, operations: pick(random, operations) }],
  namespaceSelector: onlyNamespace(ns),
  failurePolicy: pick(random, ["Fail", "Ignore"]),
  ...sometimes(random, { objectSelector: { matchLabels: { tier: pick(random, ["a", "b"]) } } }),
  ...sometimes(random, { matchConditions: [{ name: "c", expression: pick(random, conditions) }] }),
  ...sometimes(random, { admissionReviewVersions: ["v1beta1", "v1"] }),
  ...sometimes(random, { timeoutSeconds: 5 }),
});

function patchAnswer(random: Random, letter: string): WebhookAnswer {
  const patch = pick(random, [
    [{ op: "add", path: "/data", value: { a: letter } }],
    [{ op: "add", path: `/data/${letter}`, value: "1" }],
    [{ op: "add", path: "/metadata/labels", value: { tier: letter } }],
    [{ op: "remove", path: "/data/a" }],
    [],
  ]);
  return {
    patch,
    ...(random(3) === 0 && { response: { warnings: [`from ${letter}`], auditAnnotations: { by: letter } } }),
  };
}

function mutating(random: Random, ns: string): [SetupStep[], Scenario["answers"]] {
  const letters = names.slice(0, random(4));
  const list = letters.map((letter) =>
    webhook(`/m/${letter}`, { ...limits(random, ns), reinvocationPolicy: pick(random, ["Never", "IfNeeded"]) }),
  );
  const answers = letters.map((letter): [string, WebhookAnswer[]] => {
    const answer = random(6) === 0 ? pick(random, failingAnswers) : patchAnswer(random, letter);
    return [`/m/${letter}`, random(3) === 0 ? [answer, patchAnswer(random, letter)] : [answer]];
  });
  return [list.length === 0 ? [] : [mutatingWebhooks(ns, list)], Object.fromEntries(answers)];
}

function validating(random: Random, ns: string): [SetupStep[], Scenario["answers"]] {
  const letters = names.slice(0, random(3) + 1);
  const failing = random(2) === 0 ? pick(random, letters) : "";
  const answers = letters.map((letter): [string, WebhookAnswer[]] => [
    `/v/${letter}`,
    [letter === failing ? pick(random, failingAnswers) : {}],
  ]);
  const list = letters.map((letter) => webhook(`/v/${letter}`, limits(random, ns)));
  return [[validatingWebhooks(ns, list)], Object.fromEntries(answers)];
}

const verdicts = [
  "object == null || object.metadata.name != 'b'",
  "object == null || !has(object.data) || object.data.size() < 3",
  "oldObject == null || object == null || object.metadata.?labels == oldObject.metadata.?labels",
  "has(object.data)",
  "request.operation != 'DELETE' || request.userInfo.username == 'golden-user'",
];

function policies(random: Random, ns: string): SetupStep[] {
  const spec = {
    failurePolicy: pick(random, ["Fail", "Ignore"]),
    ...sometimes(random, { matchConditions: [{ name: "c", expression: pick(random, conditions) }] }),
    ...sometimes(random, { auditAnnotations: [{ key: "k", valueExpression: "request.operation" }] }),
    variables: [{ name: "name", expression: "object == null ? 'none' : string(object.metadata.name)" }],
    validations: [
      { expression: pick(random, verdicts), ...sometimes(random, { messageExpression: "'about ' + variables.name" }) },
    ],
  };
  const validationActions = pick(random, [["Deny"], ["Warn"], ["Audit"], ["Deny", "Audit"], ["Warn", "Audit"]]);
  return [validatingPolicy(ns, spec), validatingBinding(ns, ns, { validationActions })];
}

const mutations = [
  "Object{data: {'policy': request.operation}}",
  "Object{metadata: Object.metadata{labels: {'policy': '1'}}}",
  "has(object.data) ? Object{data: {'count': string(object.data.size())}} : Object{}",
  "Object{data: {'from': object.data.a}}",
];

function mutatingPolicies(random: Random, ns: string): SetupStep[] {
  const spec = {
    failurePolicy: pick(random, ["Fail", "Ignore"]),
    reinvocationPolicy: pick(random, ["Never", "IfNeeded"]),
    ...sometimes(random, { matchConditions: [{ name: "c", expression: pick(random, conditions) }] }),
    mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: pick(random, mutations) } }],
  };
  return [mutatingPolicy(ns, spec), mutatingBinding(ns, ns)];
}

function randomRequest(random: Random, ns: string): AdmissionRequest {
  const name = pick(random, names);
  const labels = sometimes(random, { metadata: { name, labels: { tier: pick(random, names) } } });
  const data = random(4) === 0 ? {} : { data: { a: `${random(3)}` } };
  const query = random(6) === 0 ? "?dryRun=All" : "";
  const sent = pick<AdmissionRequest>(random, [
    createConfigMap(ns, name, { ...labels, ...data }, query),
    createConfigMap(ns, name, { ...labels, ...data }),
    updateConfigMap(ns, name, { ...labels, ...data }, query),
    patchConfigMap(ns, name, data),
    applyConfigMap(ns, name, { ...labels, ...data }),
    deleteConfigMap(ns, name, query),
    request(`DELETE ${core(ns, "configmaps")}?fieldSelector=metadata.name%3D${name}`),
  ]);
  return random(5) === 0 ? { ...sent, user: ["golden-other", "system:authenticated"] } : sent;
}

function randomScenario(seed: number): Scenario {
  const random = seededRandom(seed);
  const name = `random-${seed}`;
  const [mutatingSetup, mutatingAnswers] = mutating(random, name);
  const [validatingSetup, validatingAnswers] = validating(random, name);
  return {
    name,
    setup: [
      namespace(name, { tier: "a" }),
      ...(random(2) === 0 ? mutatingPolicies(random, name) : []),
      ...mutatingSetup,
      ...(random(2) === 0 ? policies(random, name) : []),
      ...validatingSetup,
    ],
    answers: { ...mutatingAnswers, ...validatingAnswers },
    requests: [createConfigMap(name, "a", { data: { a: "1" } })].concat(
      Array.from({ length: requestCount }, () => randomRequest(random, name)),
    ),
  };
}

export const randomScenarios: Family = {
  setup: rights,
  scenarios: Array.from({ length: scenarioCount }, (_, seed) => randomScenario(seed)),
};
