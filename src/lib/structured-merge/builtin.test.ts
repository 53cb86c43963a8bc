/**
 * The fields that the creator of a built-in object owns. Go's zero values have no owner, except in
 * list items. The expected sets are those of real servers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { encodeFieldsV1 } from "./fields-v1.ts";
import { emptySet } from "./set.ts";
import type { PlainMap } from "./typed.ts";
import { updateManagers } from "./updater.ts";

const container = { name: "c", image: "i", resources: {}, ports: [{ containerPort: 80, protocol: "TCP" }] };
const rows: [definition: string, object: PlainMap, owned: string][] = [
  [
    "io.k8s.api.apps.v1.Deployment",
    {
      spec: {
        selector: { matchLabels: { a: "b" } },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [container], securityContext: {} } },
      },
      status: {},
    },
    `{"f:spec":{"f:selector":{},"f:strategy":{"f:rollingUpdate":{".":{},"f:maxSurge":{}},"f:type":{}},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},` +
      `"f:spec":{"f:containers":{"k:{\\"name\\":\\"c\\"}":{".":{},"f:image":{},"f:name":{},"f:ports":{".":{},"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":` +
      `{".":{},"f:containerPort":{},"f:protocol":{}}},"f:resources":{}}},"f:securityContext":{}}}}}`,
  ],
  [
    "io.k8s.api.core.v1.Pod",
    { status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] } },
    `{"f:status":{"f:conditions":{".":{},"k:{\\"type\\":\\"Ready\\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}}}}`,
  ],
  [
    "io.k8s.api.core.v1.Service",
    {
      spec: {
        ports: [
          { port: 443, protocol: "TCP", targetPort: 443 },
          { port: 80, targetPort: "http" },
        ],
        type: "ClusterIP",
      },
    },
    `{"f:spec":{"f:ports":{".":{},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{},"f:targetPort":{}},` +
      `"k:{\\"port\\":443,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{},"f:protocol":{},"f:targetPort":{}}},"f:type":{}}}`,
  ],
];
for (const [definition, object, owned] of rows) {
  test(`the creator of a ${definition.split(".").at(-1)} owns its fields`, () => {
    const schema = builtinSchema(definition);
    const context = { schemaOf: () => schema, convert: (same: PlainMap) => same, ignored: () => emptySet };
    const managers = updateManagers(context, { object: {}, version: "v1" }, { object, version: "v1" }, new Map(), "u");
    assert.equal(JSON.stringify(encodeFieldsV1(managers.get("u")?.set ?? emptySet)), owned);
  });
}
