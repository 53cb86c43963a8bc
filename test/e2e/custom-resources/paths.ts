/**
 * Requests to every shape of path below custom kinds, namespaced and not, with `status` and `scale`
 * and without. Writes are dry runs. `tools/golden/server/custom-resource-paths.ts` records the
 * answers of a kube-apiserver in `testdata/paths.json.gz`.
 */
import { eventually } from "../../support/until.ts";

export interface PathAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The `Warning` header lines, joined. */
  readonly warnings: string;
  readonly text: string;
}

/** @param line method and path @param body JSON text */
export type SendLine = (line: string, body?: string, headers?: Readonly<Record<string, string>>) => Promise<PathAnswer>;

interface PathRequest {
  readonly line: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Method and path, the body, and the answer. */
export type PathRow = readonly [
  line: string,
  body: string,
  status: number,
  contentType: string,
  warnings: string,
  text: string,
];

interface CustomKind {
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources: boolean;
}

const group = "paths.example.com";
const namespace = "paths";

const kinds: readonly CustomKind[] = [
  { plural: "wholes", kind: "Whole", namespaced: true, subresources: true },
  { plural: "plains", kind: "Plain", namespaced: true, subresources: false },
  { plural: "wides", kind: "Wide", namespaced: false, subresources: true },
  { plural: "bares", kind: "Bare", namespaced: false, subresources: false },
];

function definitionOf({ plural, kind, namespaced, subresources }: CustomKind): object {
  const properties = {
    spec: { type: "object", properties: { replicas: { type: "integer" } } },
    status: { type: "object" },
  };
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  const version = (name: string, more: object): object => ({
    name,
    served: true,
    storage: false,
    schema: { openAPIV3Schema: { type: "object", properties } },
    ...(subresources && { subresources: { status: {}, scale } }),
    ...more,
  });
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? "Namespaced" : "Cluster",
      names: { plural, kind },
      versions: [
        version("v1", { storage: true }),
        version("v1beta1", { deprecated: true }),
        version("v1alpha1", { served: false }),
      ],
    },
  };
}

/** @param at the path of the group and version */
function shapesOf({ plural, namespaced }: CustomKind, at = `/apis/${group}/v1`): string[] {
  const inside = `${at}/namespaces/${namespace}/${plural}`;
  const outside = `${at}/${plural}`;
  const below = (collection: string): string[] => [
    collection,
    ...[
      "/a",
      "/none",
      "/a/status",
      "/none/status",
      "/a/scale",
      "/none/scale",
      "/a/other",
      "/a/status/more",
      "/a/scale/more",
      "/a/other/more",
    ].map((rest) => collection + rest),
  ];
  const trailing = [
    `${namespaced ? inside : outside}/`,
    `${namespaced ? inside : outside}/a/`,
    `${namespaced ? inside : outside}//a`,
  ];
  return [...below(outside), ...below(inside), ...trailing];
}

const merge = { "content-type": "application/merge-patch+json" };
const methods = ["GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE"] as const;
const readOnly: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

function requestOf(method: string, path: string, { kind }: CustomKind, version = "v1"): PathRequest {
  if (readOnly.has(method)) return { line: `${method} ${path}` };
  const line = `${method} ${path}?dryRun=All`;
  if (method === "DELETE") return { line };
  if (method === "PATCH") return { line, body: JSON.stringify({ metadata: { labels: { x: "y" } } }), headers: merge };
  const name = method === "POST" ? "b" : "a";
  const object = path.includes("/scale")
    ? { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name }, spec: { replicas: 2 } }
    : { apiVersion: `${group}/${version}`, kind, metadata: { name }, spec: {} };
  return { line, body: JSON.stringify(object) };
}

function tableOf(kind: CustomKind): PathRequest[] {
  return methods.flatMap((method) => shapesOf(kind).map((path) => requestOf(method, path, kind)));
}

/**
 * Versions that are deprecated, not served or unknown, an unknown kind, and the deprecated prefix
 * for watches.
 */
function tableOfRejected(kind: CustomKind): PathRequest[] {
  const scope = kind.namespaced ? `namespaces/${namespace}/` : "";
  const rows: PathRequest[] = [];
  for (const version of ["v1beta1", "v1alpha1", "v9"]) {
    const collection = `/apis/${group}/${version}/${scope}${kind.plural}`;
    for (const path of [
      collection,
      `${collection}/a`,
      `${collection}/a/status`,
      `${collection}/a/other`,
      `/apis/${group}/${version}/${kind.plural}`,
    ])
      for (const method of methods) rows.push(requestOf(method, path, kind, version));
  }
  for (const method of methods) {
    rows.push(
      requestOf(method, `/apis/${group}/v1/${scope}others`, kind),
      requestOf(method, `/apis/${group}/v1/${scope}others/a`, kind),
    );
    const watched = `/apis/${group}/v1/watch/${scope}${kind.plural}`;
    if (method === "GET" || method === "HEAD") continue; // These open a watch.
    rows.push(
      requestOf(method, `${watched}/a/status`, kind),
      requestOf(method, `/apis/${group}/v9/watch/${scope}${kind.plural}`, kind),
    );
  }
  return rows;
}

/** Bodies of a POST, to a collection and to a name. */
function tableOfBodies(kind: CustomKind): PathRequest[] {
  const collection = `/apis/${group}/v1/${kind.namespaced ? `namespaces/${namespace}/` : ""}${kind.plural}`;
  const object = (metadata: object, more: object = {}): object => ({
    apiVersion: `${group}/v1`,
    kind: kind.kind,
    metadata,
    spec: {},
    ...more,
  });
  const bodies: (object | string)[] = [
    object({ name: "b" }),
    object({ name: "c" }),
    object({ name: "a" }),
    object({}),
    object({ name: "b", namespace: "elsewhere" }),
    object({ name: "B" }),
    object({ name: "b" }, { apiVersion: `${group}/v1beta1` }),
    object({ name: "b" }, { apiVersion: `${group}/v1beta1`, spec: { more: 1 }, other: 2 }),
    object({ name: "b" }, { apiVersion: `${group}/v1beta1`, spec: { replicas: "two" } }),
    object({ name: "b" }, { apiVersion: `${group}/v1alpha1`, other: 2 }),
    object({ name: "b" }, { apiVersion: `${group}/v9`, other: 2 }),
    object({ name: "b" }, { apiVersion: "elsewhere.example.com/v1", other: 2 }),
    object({ name: "b" }, { apiVersion: "v1", other: 2 }),
    object({ name: "b" }, { apiVersion: "", other: 2 }),
    object({ name: "b" }, { kind: "Other", other: 2 }),
    object({ name: "b" }, { kind: "Other", apiVersion: `${group}/v1beta1`, other: 2 }),
    object({ name: "b" }, { kind: "", other: 2 }),
    object({ name: "b" }, { other: 2 }),
    object({ name: "b", other: 2 }, { apiVersion: `${group}/v1beta1` }),
    `{"apiVersion":"${group}/v1beta1","kind":"${kind.kind}","metadata":{"name":"b"},"spec":{"replicas":1,"replicas":2}}`,
    "{}",
    "[]",
    "",
  ];
  const rows: PathRequest[] = [];
  for (const body of bodies) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    for (const query of ["", "&fieldValidation=Strict", "&fieldValidation=Ignore"]) {
      rows.push({ line: `POST ${collection}?dryRun=All${query}`, body: text });
      rows.push({ line: `PUT ${collection}/a?dryRun=All${query}`, body: text });
      if (query === "")
        rows.push(
          { line: `POST ${collection}/b?dryRun=All`, body: text },
          { line: `PUT ${collection}?dryRun=All`, body: text },
        );
    }
  }
  return rows;
}

/** Tables that would only repeat are sent for two of the kinds. */
const requests: readonly PathRequest[] = [
  ...kinds.flatMap(tableOf),
  ...[kinds[0] as CustomKind, kinds[3] as CustomKind].flatMap(tableOfRejected),
  ...[kinds[0] as CustomKind, kinds[3] as CustomKind].flatMap(tableOfBodies),
];

/** Creates the kinds with an object of each, and sends the requests. */
export async function sendPathRequests(send: SendLine): Promise<PathRow[]> {
  await send("POST /api/v1/namespaces", JSON.stringify({ metadata: { name: namespace } }));
  for (const kind of kinds) await makeKind(send, kind);
  const rows: PathRow[] = [];
  for (const { line, body, headers } of requests) {
    const { status, contentType, warnings, text } = await send(line, body, headers);
    rows.push([line, body ?? "", status, contentType, warnings, normalized(text)]);
  }
  return rows;
}

async function makeKind(send: SendLine, kind: CustomKind): Promise<void> {
  await send("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", JSON.stringify(definitionOf(kind)));
  const object = { apiVersion: `${group}/v1`, kind: kind.kind, metadata: { name: "a" }, spec: { replicas: 1 } };
  const path = `/apis/${group}/v1/${kind.namespaced ? `namespaces/${namespace}/` : ""}${kind.plural}`;
  await eventually(`${kind.plural} are served`, async () => {
    const { status } = await send(`POST ${path}`, JSON.stringify(object));
    return status === 201 || status === 409;
  });
}

/** Replaces values that differ in each run. */
function normalized(text: string): string {
  return text
    .trim()
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uid>")
    .replaceAll(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "<time>")
    .replaceAll(/("resourceVersion": ?")\d+/g, "$1<version>");
}
