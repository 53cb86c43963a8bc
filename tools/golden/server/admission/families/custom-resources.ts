/** Definitions for the scenarios: two versions with the same schema, status and scale. */
import type { Sent, SetupStep } from "../../../../../test/support/admission-golden.ts";

export const group = "golden.example.com";

const spec = {
  type: "object",
  properties: {
    size: { type: "integer", minimum: 0, maximum: 100, default: 1 },
    color: { type: "string", enum: ["red", "green", "blue"] },
    tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    parts: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: {
        type: "object",
        required: ["name"],
        properties: { name: { type: "string" }, count: { type: "integer", default: 1 } },
      },
    },
    options: { type: "object", additionalProperties: { type: "string" } },
    free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
  },
};
const openAPIV3Schema = {
  type: "object",
  properties: { spec, status: { type: "object", properties: { size: { type: "integer" } } } },
};
const subresources = { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } };

function definition(plural: string, kind: string, scope: string): SetupStep {
  const version = (name: string, storage: boolean): Sent => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema },
    subresources,
  });
  return [
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope,
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [version("v1", true), version("v1beta1", false)],
      },
    },
  ];
}

export const definitions: readonly SetupStep[] = [
  definition("widgets", "Widget", "Namespaced"),
  definition("regions", "Region", "Cluster"),
];

/** The path of widgets, or of one. */
export const widgets = (inNamespace: string, name?: string, version = "v1"): string =>
  `/apis/${group}/${version}/namespaces/${inNamespace}/widgets${name === undefined ? "" : `/${name}`}`;

export const widget = (name: string, spec: Sent = {}, version = "v1"): Sent => ({
  apiVersion: `${group}/${version}`,
  kind: "Widget",
  metadata: { name },
  spec,
});
