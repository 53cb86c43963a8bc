/** A policy engine as it runs in a cluster: a webhook behind a Service, which can stop and start again. */
import assert from "node:assert/strict";
import type { Answer, RawClient } from "./raw-client.ts";
import { startWebhookServer, type WebhookServer } from "./webhook-server.ts";

/** The request of an AdmissionReview. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
export type Reviewed = any;

/** @returns the response without its uid; undefined allows the request */
export type Decide = (path: string, request: Reviewed) => Readonly<Record<string, unknown>> | undefined;

export interface PolicyEngine {
  /** The address of the Service, as in error messages. */
  readonly origin: string;
  readonly port: number;
  /** @returns clientConfig of a webhook; the CA bundle is the current one unless another is named */
  clientConfig(path: string, caBundle?: string): object;
  /** The current certificate authority, in base64. */
  caBundle(): string;
  /** Requests that were reviewed, and forgets them. */
  reviewed(): string[];
  stop(): Promise<void>;
  /** Starts again with another certificate authority. */
  start(): Promise<void>;
}

/** Creates the namespace and the Service of an engine, and starts its webhook. */
export async function startPolicyEngine(
  client: RawClient,
  { namespace, service, decide }: { namespace: string; service: string; decide: Decide },
): Promise<PolicyEngine> {
  const reviews: string[] = [];
  const reply = ({ path, body }: { path: string; body?: Reviewed }): object => {
    const [at = ""] = path.split("?");
    if (body.kind === "ConversionReview") return converted(body);
    const { uid } = body.request;
    reviews.push(describe(at, body.request));
    return {
      apiVersion: body.apiVersion,
      kind: body.kind,
      response: { uid, allowed: true, ...decide(at, body.request) },
    };
  };
  const open = (port?: number): Promise<WebhookServer> =>
    startWebhookServer(reply, { names: [`${service}.${namespace}.svc`], ...(port !== undefined && { port }) });
  let server = await open();
  const { port } = server;
  const spec = { type: "ExternalName", externalName: "127.0.0.1" };
  await created(client, "/api/v1/namespaces", { metadata: { name: namespace } });
  await created(client, `/api/v1/namespaces/${namespace}/services`, { metadata: { name: service }, spec });
  const caBundle = (): string => Buffer.from(server.ca).toString("base64");
  return {
    origin: `https://${service}.${namespace}.svc:${port}`,
    port,
    clientConfig: (path, bundle = caBundle()) => ({
      service: { namespace, name: service, path, port },
      caBundle: bundle,
    }),
    caBundle,
    reviewed: () => reviews.splice(0),
    stop: () => server.close(),
    async start() {
      server = await open(port);
    },
  };
}

/** The versions of the objects differ in their name only. */
function converted({ apiVersion, kind, request: { uid, objects, desiredAPIVersion } }: Reviewed): object {
  const convertedObjects = objects.map((object: object) => ({ ...object, apiVersion: desiredAPIVersion }));
  return { apiVersion, kind, response: { uid, result: { status: "Success" }, convertedObjects } };
}

/** `/validate CREATE configmaps default/name` */
function describe(path: string, { operation, resource, subResource, namespace, name }: Reviewed): string {
  const where = namespace === undefined ? name : `${namespace}/${name ?? ""}`;
  return `${path} ${operation} ${resource.resource}${subResource === undefined ? "" : `/${subResource}`} ${where}`;
}

export async function created(client: RawClient, path: string, body: object): Promise<Answer> {
  const answer = await client.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

/** @returns `201`, or the code and the message of a Status */
export function outcome(answer: Answer): string {
  return answer.status < 300 ? String(answer.status) : `${answer.status} ${answer.body?.message}`;
}

/** A JSON patch as the fields of a response. */
export const patchOf = (operations: readonly object[]): Readonly<Record<string, unknown>> => ({
  patchType: "JSONPatch",
  patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
});
