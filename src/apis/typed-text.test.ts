/**
 * How messages show text: a Go `string` with `%q`, and text of another Go type as JSON, which escapes `<`, `>` and `&`.
 * The answers of kube-apiserver to these objects are the same.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";

let cluster: MemoryRegistry;
before(async () => {
  cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
});
after(() => cluster.close());

const text = "<a&b>";
const json = String.raw`"\u003ca\u0026b\u003e"`;
const plain = `"${text}"`;

const labels = { a: "b" };
const podOf = (spec: object): object => ({ containers: [{ name: "c", image: "i" }], ...spec });
const deployment = (spec: object, fields: object = {}): object => ({
  metadata: { name: "x" },
  spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podOf(spec) }, ...fields },
});
const inContainer = (fields: object): object => deployment({ containers: [{ name: "c", image: "i", ...fields }] });
const service = (spec: object): object => ({ metadata: { name: "x" }, spec: { ports: [{ port: 1 }], ...spec } });
const windows = (windowsOptions: object): object => deployment({ securityContext: { windowsOptions } });
const resources = (requests: object): object => inContainer({ resources: { requests } });

const deployments = "/apis/apps/v1/namespaces/n/deployments";
const spec = "spec.template.spec";
/** `field`: how its value is shown. */
type Shown = Readonly<Record<string, string>>;
const rows: readonly (readonly [what: string, path: string, body: object, shown: Shown])[] = [
  [
    "an operator of a selector",
    deployments,
    deployment({}, { selector: { matchExpressions: [{ key: "a", operator: text }] } }),
    { "spec.selector.matchExpressions[0].operator": json },
  ],
  [
    "a toleration, whose key is a string",
    deployments,
    deployment({ tolerations: [{ key: text, operator: "Exists", effect: text, tolerationSeconds: 3 }] }),
    { [`${spec}.tolerations[0].key`]: plain, [`${spec}.tolerations[0].effect`]: json },
  ],
  [
    "pointers of Windows options",
    deployments,
    windows({ gmsaCredentialSpecName: text, runAsUserName: text }),
    {
      [`${spec}.securityContext.windowsOptions.gmsaCredentialSpecName`]: json,
      [`${spec}.securityContext.windowsOptions.runAsUserName`]: json,
    },
  ],
  [
    "a name of a resource",
    deployments,
    resources({ [text]: "1" }),
    { [`${spec}.containers[0].resources.requests[${text}]`]: json },
  ],
  [
    "a name of a port, which is a string",
    deployments,
    inContainer({ ports: [{ containerPort: 1, name: text }] }),
    { [`${spec}.containers[0].ports[0].name`]: plain },
  ],
  [
    "a percentage",
    deployments,
    deployment({}, { strategy: { rollingUpdate: { maxSurge: text } } }),
    { "spec.strategy.rollingUpdate.maxSurge": json },
  ],
  [
    "a traffic policy",
    "/api/v1/namespaces/n/services",
    service({ externalTrafficPolicy: text }),
    { "spec.externalTrafficPolicy": json },
  ],
  [
    "a repeated family",
    "/api/v1/namespaces/n/services",
    service({ ipFamilies: [text, text] }),
    { "spec.ipFamilies[0]": json, "spec.ipFamilies[1]": json },
  ],
  [
    "a type of a limit",
    "/api/v1/namespaces/n/limitranges",
    { metadata: { name: "x" }, spec: { limits: [{ type: text }, { type: text }] } },
    { "spec.limits[0].type": json, "spec.limits[1].type": json },
  ],
  [
    "a scope of a quota",
    "/api/v1/namespaces/n/resourcequotas",
    {
      metadata: { name: "x" },
      spec: { scopeSelector: { matchExpressions: [{ scopeName: text, operator: text }] } },
    },
    {
      "spec.scopeSelector.matchExpressions.scopeName": json,
      "spec.scopeSelector.matchExpressions.operator": json,
    },
  ],
  [
    "a target of a metric",
    "/apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers",
    {
      metadata: { name: "x" },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { kind: "A", name: "a" },
        metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: text } } }],
      },
    },
    { "spec.metrics[0].resource.target.type": json },
  ],
];

for (const [what, path, body, shown] of rows)
  test(`shows ${what}`, async () => {
    const { body: answer } = await send(cluster.registry, `POST ${path}`, body);
    for (const [field, value] of Object.entries(shown)) {
      const messages: string[] = answer.details.causes
        .filter((cause: { field: string }) => cause.field === field)
        .map(({ message }: { message: string }) => message);
      assert.ok(messages.length > 0, `${field}: ${answer.message}`);
      for (const message of messages) assert.ok(message.includes(` value: ${value}`), `${field}: ${message}`);
    }
  });

test("shows the propagation policy of a deletion", async () => {
  const options = { propagationPolicy: text, orphanDependents: true };
  const { body } = await send(cluster.registry, "DELETE /api/v1/namespaces/n/configmaps/x", options);
  assert.ok(body.message.includes(`propagationPolicy: Invalid value: ${json}`), body.message);
});
