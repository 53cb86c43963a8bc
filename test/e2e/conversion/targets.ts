/** A kind with two versions, and the answers of a webhook that converts between them. */
import type { WebhookReply, WebhookRequest } from "../../support/webhook-server.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects as they are sent.
type Json = any;

const text = { type: "string" };
const version = (name: string, storage: boolean, properties: object, more: object = {}) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: { type: "object", properties: { replicas: { type: "integer" }, ...properties } },
        status: { type: "object", properties: { seen: text, replicas: { type: "integer" } } },
      },
    },
  },
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  ...more,
});

const split = { host: text, port: { type: "integer", maximum: 65535 } };
export const definitionOf = (conversion: object, stored: "v1" | "v2" = "v1") => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "targets.example.com" },
  spec: {
    group: "example.com",
    names: { plural: "targets", kind: "Target" },
    scope: "Namespaced",
    conversion,
    versions: [
      version("v1", stored === "v1", { hostPort: text }),
      version("v2", stored === "v2", split, {
        selectableFields: [{ jsonPath: ".spec.host" }],
        additionalPrinterColumns: [{ name: "Host", type: "string", jsonPath: ".spec.host" }],
      }),
    ],
  },
});

/** Converts an object like a correct webhook. */
function convertObject(object: Json, to: string): Json {
  const converted = structuredClone(object);
  converted.apiVersion = to;
  const { spec = {} } = converted;
  if (to.endsWith("/v2") && spec.hostPort !== undefined) {
    const [host, port] = spec.hostPort.split(":");
    converted.spec = { ...spec, host, port: Number(port) };
    delete converted.spec.hostPort;
  }
  if (to.endsWith("/v1") && spec.host !== undefined) {
    converted.spec = { ...spec, hostPort: `${spec.host}:${spec.port ?? 0}` };
    delete converted.spec.host;
    delete converted.spec.port;
  }
  return converted;
}

export const answerOf = (
  { body }: WebhookRequest,
  change: (objects: Json[]) => unknown = (objects) => objects,
  more: object = {},
): Json => {
  const { uid, desiredAPIVersion, objects } = body.request;
  const convertedObjects = change(objects.map((object: Json) => convertObject(object, desiredAPIVersion)));
  return {
    kind: body.kind,
    apiVersion: body.apiVersion,
    response: { uid, convertedObjects, result: { status: "Success" }, ...more },
  };
};
export const good = (request: WebhookRequest): WebhookReply => answerOf(request);

export const target = (at: string, name: string, spec: object, more: object = {}) => ({
  apiVersion: `example.com/${at}`,
  kind: "Target",
  metadata: { name },
  spec,
  ...more,
});
