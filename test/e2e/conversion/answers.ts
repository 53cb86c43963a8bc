/**
 * Requests for objects of a kind that a webhook converts, at both of its versions, while the
 * webhook works and while it fails: with v1 as the storage version, and then, for objects stored at
 * v1, with v2. `tools/golden/server/conversions.ts` records the answers of a kube-apiserver in
 * `testdata/answers.json.gz`.
 */

import { eventually } from "../../support/until.ts";
import type { WebhookReply, WebhookRequest } from "../../support/webhook-server.ts";
import { answerOf, definitionOf, good, target } from "./targets.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects as they are sent.
type Json = any;

export interface LineAnswer {
  readonly status: number;
  /** The `Warning` header lines, joined. */
  readonly warnings: string;
  readonly text: string;
}

/** @param line method and path @param body JSON text */
export type SendLine = (line: string, body?: string, headers?: Readonly<Record<string, string>>) => Promise<LineAnswer>;

export type Reply = (request: WebhookRequest) => WebhookReply;

/** A webhook whose replies are set for each request. */
export interface SwitchedWebhook {
  readonly url: string;
  /** PEM of the authority that issued its certificate. */
  readonly ca: string;
  answer(reply: Reply): void;
}

/** Replies of the webhook. */
const replies = {
  good,
  "status 500": () => (response) => response.writeHead(500, { "content-type": "text/plain" }).end("broken"),
  failure: (request) => answerOf(request, () => [], { result: { status: "Failure", message: "not today" } }),
  garbage: () => "garbage",
  "hang up": () => (response) => response.destroy(),
  "no objects": (request) => answerOf(request, () => []),
  unconverted: (request) => answerOf(request, () => request.body.request.objects),
  renamed: (request) =>
    answerOf(request, (objects) => objects.map((one) => ({ ...one, metadata: { ...one.metadata, name: "z" } }))),
  "without finalizers": (request) =>
    answerOf(request, (objects) =>
      objects.map(({ metadata: { finalizers: _, ...metadata }, ...one }) => ({ ...one, metadata })),
    ),
  "fails to v1": (request) => failsTo("v1", request),
  "fails to v2": (request) => failsTo("v2", request),
} satisfies Record<string, Reply>;

function failsTo(version: Version, request: WebhookRequest): WebhookReply {
  const fails = request.body.request.desiredAPIVersion === `example.com/${version}`;
  return fails
    ? answerOf(request, () => [], { result: { status: "Failure", message: "not to this version" } })
    : good(request);
}

type ReplyName = keyof typeof replies;
type Version = "v1" | "v2";

interface Call {
  readonly what: string;
  readonly method: string;
  /** Appended to the path of the collection. */
  readonly path: string;
  /** @param at the version of the request @param live the stored object at v1 */
  readonly body?: (at: Version, live: Json) => object;
  readonly headers?: Readonly<Record<string, string>>;
  /** The state of the object: with a finalizer, or deleted and held by a finalizer. */
  readonly object?: "held" | "deleted";
  readonly replies?: readonly ReplyName[];
}

const merge = { "content-type": "application/merge-patch+json" };
const json = { "content-type": "application/json-patch+json" };
const applied = { "content-type": "application/apply-patch+yaml" };
const metadataOnly = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
const metadataList = { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" };
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };

const specs: Readonly<Record<Version, object>> = { v1: { hostPort: "changed:9" }, v2: { host: "changed", port: 9 } };
const whole = (at: Version, { metadata }: Json, more: object = {}): object =>
  target(at, "a", specs[at], { metadata, ...more });
const scale = (_at: Version, { metadata: { name, namespace, resourceVersion } }: Json): object => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name, namespace, resourceVersion },
  spec: { replicas: 7 },
});
const failures: readonly ReplyName[] = [
  "failure",
  "garbage",
  "hang up",
  "no objects",
  "unconverted",
  "renamed",
  "without finalizers",
];
const oneWay: readonly ReplyName[] = ["good", "status 500", "fails to v1", "fails to v2"];
const every: readonly ReplyName[] = [...oneWay, ...failures];

const calls: readonly Call[] = [
  { what: "get", method: "GET", path: "/a", replies: every },
  { what: "get of another", method: "GET", path: "/none" },
  { what: "get at any version", method: "GET", path: "/a?resourceVersion=0" },
  { what: "get the scale at any version", method: "GET", path: "/a/scale?resourceVersion=0" },
  { what: "get metadata", method: "GET", path: "/a", headers: metadataOnly },
  { what: "get a table", method: "GET", path: "/a", headers: table },
  { what: "list", method: "GET", path: "" },
  { what: "list at any version", method: "GET", path: "?resourceVersion=0" },
  { what: "list a page", method: "GET", path: "?limit=1" },
  { what: "list by label", method: "GET", path: "?labelSelector=x%3Dy" },
  { what: "list metadata", method: "GET", path: "", headers: metadataList },
  { what: "watch", method: "GET", path: "?watch=1&timeoutSeconds=1&resourceVersion=0", replies: ["status 500"] },
  { what: "create", method: "POST", path: "", body: (at) => target(at, "b", specs[at]) },
  { what: "create, dry", method: "POST", path: "?dryRun=All", body: (at) => target(at, "b", specs[at]) },
  { what: "create what is there", method: "POST", path: "", body: (at) => target(at, "a", specs[at]) },
  { what: "update", method: "PUT", path: "/a", body: (at, live) => whole(at, live) },
  { what: "update, dry", method: "PUT", path: "/a?dryRun=All", body: (at, live) => whole(at, live) },
  { what: "update without a version", method: "PUT", path: "/a", body: (at) => target(at, "a", specs[at]) },
  {
    what: "update of another version",
    method: "PUT",
    path: "/a",
    body: (at, live) => whole(at, { metadata: { ...live.metadata, resourceVersion: "1" } }),
  },
  { what: "update of another", method: "PUT", path: "/none", body: (at) => target(at, "none", specs[at]) },
  { what: "merge patch", method: "PATCH", path: "/a", headers: merge, body: (at) => ({ spec: specs[at] }) },
  {
    what: "merge patch, dry",
    method: "PATCH",
    path: "/a?dryRun=All",
    headers: merge,
    body: (at) => ({ spec: specs[at] }),
  },
  { what: "merge patch of nothing", method: "PATCH", path: "/a", headers: merge, body: () => ({}) },
  { what: "merge patch of another", method: "PATCH", path: "/none", headers: merge, body: () => ({}) },
  {
    what: "JSON patch",
    method: "PATCH",
    path: "/a",
    headers: json,
    body: () => [{ op: "add", path: "/metadata/labels", value: { l: "m" } }],
  },
  {
    what: "apply",
    method: "PATCH",
    path: "/a?fieldManager=one&force=true",
    headers: applied,
    body: (at) => target(at, "a", specs[at]),
  },
  {
    what: "apply, dry",
    method: "PATCH",
    path: "/a?fieldManager=one&force=true&dryRun=All",
    headers: applied,
    body: (at) => target(at, "a", specs[at]),
  },
  {
    what: "apply of another",
    method: "PATCH",
    path: "/b?fieldManager=one",
    headers: applied,
    body: (at) => target(at, "b", specs[at]),
  },
  { what: "get the status", method: "GET", path: "/a/status" },
  {
    what: "update the status",
    method: "PUT",
    path: "/a/status",
    body: (at, live) => whole(at, live, { status: { seen: "yes" } }),
  },
  {
    what: "patch the status",
    method: "PATCH",
    path: "/a/status",
    headers: merge,
    body: () => ({ status: { seen: "yes" } }),
  },
  {
    what: "patch the status, dry",
    method: "PATCH",
    path: "/a/status?dryRun=All",
    headers: merge,
    body: () => ({ status: { seen: "yes" } }),
  },
  {
    what: "apply the status",
    method: "PATCH",
    path: "/a/status?fieldManager=one",
    headers: applied,
    body: (at) => target(at, "a", {}, { status: { seen: "yes" } }),
  },
  { what: "get the scale", method: "GET", path: "/a/scale", replies: every },
  { what: "update the scale", method: "PUT", path: "/a/scale", body: scale },
  { what: "update the scale, dry", method: "PUT", path: "/a/scale?dryRun=All", body: scale },
  {
    what: "patch the scale",
    method: "PATCH",
    path: "/a/scale",
    headers: merge,
    body: () => ({ spec: { replicas: 7 } }),
  },
  { what: "get the scale of another", method: "GET", path: "/none/scale" },
  { what: "delete", method: "DELETE", path: "/a", replies: every },
  { what: "delete, dry", method: "DELETE", path: "/a?dryRun=All" },
  { what: "delete another", method: "DELETE", path: "/none" },
  {
    what: "delete by uid",
    method: "DELETE",
    path: "/a",
    body: (_, { metadata: { uid } }) => ({ preconditions: { uid } }),
  },
  { what: "delete another uid", method: "DELETE", path: "/a", body: () => ({ preconditions: { uid: "other" } }) },
  {
    what: "delete another version",
    method: "DELETE",
    path: "/a",
    body: () => ({ preconditions: { resourceVersion: "1" } }),
  },
  {
    what: "delete in the foreground",
    method: "DELETE",
    path: "/a",
    body: () => ({ propagationPolicy: "Foreground" }),
    object: "held",
  },
  { what: "delete what is held", method: "DELETE", path: "/a", object: "held", replies: every },
  { what: "delete what is held, dry", method: "DELETE", path: "/a?dryRun=All", object: "held" },
  { what: "delete what is deleted", method: "DELETE", path: "/a", object: "deleted" },
  {
    what: "let go",
    method: "PATCH",
    path: "/a",
    headers: merge,
    body: () => ({ metadata: { finalizers: null } }),
    object: "deleted",
    replies: every,
  },
  { what: "delete all", method: "DELETE", path: "", replies: every },
  { what: "delete all, dry", method: "DELETE", path: "?dryRun=All" },
  { what: "delete all by label", method: "DELETE", path: "?labelSelector=x%3Dy" },
  { what: "delete none by label", method: "DELETE", path: "?labelSelector=x%3Dz" },
  { what: "delete all by name", method: "DELETE", path: "?fieldSelector=metadata.name%3Da" },
  { what: "delete all that is held", method: "DELETE", path: "", object: "held" },
];

interface Step extends Call {
  readonly at: Version;
  readonly reply: ReplyName;
  readonly namespace: string;
}

const stepsOf = (phase: string): Step[] => {
  const steps: Step[] = [];
  for (const call of calls)
    for (const at of ["v1", "v2"] as const)
      for (const reply of call.replies ?? (["good", "status 500"] as const))
        steps.push({ ...call, at, reply, namespace: `${phase}-${steps.length}` });
  return steps;
};

/** The request, the answer, and the objects that exist afterwards. */
export type ConversionRow = readonly [what: string, status: number, warnings: string, answer: unknown, then: unknown];

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const collection = (at: Version, namespace: string): string =>
  `/apis/example.com/${at}/namespaces/${namespace}/targets`;

/** Creates the kind and its objects, and sends all requests. */
export async function sendWhileConverting(send: SendLine, webhook: SwitchedWebhook): Promise<ConversionRow[]> {
  const clientConfig = { url: `${webhook.url}/convert`, caBundle: Buffer.from(webhook.ca).toString("base64") };
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
  await send(`POST ${definitions}`, JSON.stringify(definitionOf(conversion)));
  await eventually("served", async () => (await send("GET /apis/example.com/v2/targets")).status === 200);
  const [before, moved] = [stepsOf("before"), stepsOf("moved")];
  for (const step of [...before, ...moved]) await makeObject(send, step);
  const rows: ConversionRow[] = [];
  for (const step of before) rows.push(await run(send, webhook, step));
  await storeAtOther(send, webhook);
  for (const step of moved) rows.push(await run(send, webhook, step));
  return rows;
}

async function makeObject(send: SendLine, { namespace, object }: Step): Promise<void> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  const metadata = { name: "a", labels: { x: "y" }, ...(object !== undefined && { finalizers: ["example.com/held"] }) };
  const made = target("v1", "a", { hostPort: "a:1", replicas: 1 }, { metadata });
  const { status, text } = await send(`POST ${collection("v1", namespace)}?fieldManager=maker`, JSON.stringify(made));
  if (status !== 201) throw new Error(text);
  if (object === "deleted") await send(`DELETE ${collection("v1", namespace)}/a`);
}

async function storeAtOther(send: SendLine, webhook: SwitchedWebhook): Promise<void> {
  const { versions } = definitionOf({}, "v2").spec;
  await send(`PATCH ${definitions}/targets.example.com`, JSON.stringify({ spec: { versions } }), merge);
  webhook.answer(replies["status 500"]);
  const probe = JSON.stringify(target("v1", "probe", specs.v1));
  await eventually(
    "stored at the other version",
    async () => (await send(`POST ${collection("v1", "moved-0")}?dryRun=All`, probe)).status === 500,
  );
  webhook.answer(good);
}

/**
 * Waits until both versions list the same objects: upstream's caches convert objects some time
 * after a change.
 */
async function settled(send: SendLine, namespace: string): Promise<void> {
  const listed = async (at: Version): Promise<string | undefined> => {
    const { status, text } = await send(`GET ${collection(at, namespace)}`);
    if (status !== 200) return undefined;
    return JSON.parse(text)
      .items.map(({ metadata }: Json) => `${metadata.name} ${metadata.resourceVersion}`)
      .join();
  };
  await eventually("settled", async () => {
    const lists = [await listed("v1"), await listed("v2")];
    return lists[0] !== undefined && lists[0] === lists[1];
  });
}

async function run(send: SendLine, webhook: SwitchedWebhook, step: Step): Promise<ConversionRow> {
  const { at, namespace, method, path, headers, body, reply, what } = step;
  await settled(send, namespace);
  const live = JSON.parse((await send(`GET ${collection("v1", namespace)}/a`)).text);
  const sent = body === undefined ? undefined : JSON.stringify(body(at, live));
  webhook.answer(replies[reply]);
  const { status, warnings, text } = await send(`${method} ${collection(at, namespace)}${path}`, sent, headers);
  webhook.answer(good);
  await settled(send, namespace);
  const then = await send(`GET ${collection("v1", namespace)}`);
  return [
    `${namespace} ${what} at ${at}, ${reply}`,
    status,
    warnings,
    answerOfText(text),
    itemsOf(JSON.parse(then.text), live),
  ];
}

function answerOfText(text: string): unknown {
  if (!/^\{"type":/.test(text)) return normalized(JSON.parse(text));
  return text
    .trim()
    .split("\n")
    .map((line) => normalized(JSON.parse(line)));
}

/**
 * The existing objects, and whether they were written. Managed fields are omitted, because the
 * answer contains them.
 */
function itemsOf({ items }: Json, live: Json): unknown {
  return items.map(({ metadata: { managedFields: _, resourceVersion, ...metadata }, ...one }: Json) => {
    const written = resourceVersion !== live.metadata.resourceVersion;
    return normalized({ ...one, metadata, written });
  });
}

/** Replaces values that differ in each run. */
function normalized(value: unknown): Json {
  const text = JSON.stringify(value, (key, member) =>
    key === "resourceVersion" && member !== "" ? "<version>" : member,
  );
  return JSON.parse(
    text
      .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
      .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
      .replaceAll(/127\.0\.0\.1:\d+/g, "<webhook>")
      .replaceAll(/"\d+[smh]"/g, '"<age>"')
      .replaceAll(/in record \(\d+\)/g, "in record (<version>)"),
  );
}
