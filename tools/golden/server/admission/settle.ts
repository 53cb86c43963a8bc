/**
 * Waits until a kube-apiserver uses what was written. It watches each kind of configuration, so a marker of each kind is written last: once the
 * server uses the markers, it uses all configurations.
 */
import type { Sent } from "../../../../test/support/admission-golden.ts";
import type { ScriptedWebhook } from "../../../../test/support/scripted-webhook.ts";
import type { Send } from "../client.ts";

const group = "/apis/admissionregistration.k8s.io/v1";
const namespace = "markers";
/** The last one in the order of names, so that the indexes in audit annotations are those without it. */
const name = "zz-marker";
const attemptsMax = 3000;
const pauseMs = 20;
/** Until the informers of parameters and namespaces have what was written before. */
const informersMs = 150;

/** @returns a function that writes new markers and waits for them */
export async function openMarkers(send: Send, webhook: ScriptedWebhook): Promise<() => Promise<void>> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  let round = Date.now();
  return async () => {
    round++;
    for (const [resource, object] of markers(`${round}`)) await write(send, webhook, resource, object);
    for (let attempt = 0; !(await isUsed(send, webhook, `${round}`)); attempt++) {
      if (attempt > attemptsMax) throw new Error(`the server does not use the markers ${round}`);
      await pause(pauseMs);
    }
    await pause(informersMs);
  };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function write(send: Send, webhook: ScriptedWebhook, resource: string, object: Sent): Promise<void> {
  const line = `PATCH ${group}/${resource}/${name}?fieldManager=markers&force=true`;
  const body = webhook.fill(JSON.stringify(object));
  const answer = await send(line, body, { "content-type": "application/apply-patch+yaml" });
  if (answer.status >= 300) throw new Error(`${line}: ${answer.text}`);
}

/** Policies come before bindings, because both are needed. */
function markers(round: string): [resource: string, object: Sent][] {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }];
  const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": namespace } };
  const object = (kind: string, rest: Sent): Sent => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name },
    ...rest,
  });
  const policy = {
    // Upstream never watches a built-in kind of parameters again once no policy uses it
    // (k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/generic/policy_source.go), so the markers always use it.
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: { resourceRules: rules, namespaceSelector },
    failurePolicy: "Fail",
  };
  const webhooks = (path: string): Sent => ({
    webhooks: [
      {
        name: "marker.example.com",
        clientConfig: { url: `$WEBHOOK/${path}/${round}`, caBundle: "$CA" },
        rules,
        namespaceSelector,
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      },
    ],
  });
  const bound = { policyName: name, matchResources: { objectSelector: { matchLabels: { round } } } };
  const expression = `[JSONPatch{op: "add", path: "/metadata/labels/used", value: "${round}"}]`;
  return [
    [
      "validatingadmissionpolicies",
      object("ValidatingAdmissionPolicy", {
        spec: { ...policy, validations: [{ expression: "false", message: `marker ${round}` }] },
      }),
    ],
    [
      "mutatingadmissionpolicies",
      object("MutatingAdmissionPolicy", {
        spec: {
          ...policy,
          reinvocationPolicy: "Never",
          mutations: [{ patchType: "JSONPatch", jsonPatch: { expression } }],
        },
      }),
    ],
    [
      "validatingadmissionpolicybindings",
      object("ValidatingAdmissionPolicyBinding", { spec: { ...bound, validationActions: ["Warn"] } }),
    ],
    ["mutatingadmissionpolicybindings", object("MutatingAdmissionPolicyBinding", { spec: bound })],
    ["mutatingwebhookconfigurations", object("MutatingWebhookConfiguration", webhooks("m/marker"))],
    ["validatingwebhookconfigurations", object("ValidatingWebhookConfiguration", webhooks("v/marker"))],
  ];
}

async function isUsed(send: Send, webhook: ScriptedWebhook, round: string): Promise<boolean> {
  const body = { metadata: { name, labels: { round } } };
  const { status, text, warnings } = await send(
    `POST /api/v1/namespaces/${namespace}/configmaps?dryRun=All`,
    JSON.stringify(body),
  );
  return (
    status === 201 &&
    text.includes(`"used":"${round}"`) &&
    warnings.includes(`marker ${round}`) &&
    webhook.called.has(`/m/marker/${round}`) &&
    webhook.called.has(`/v/marker/${round}`)
  );
}
