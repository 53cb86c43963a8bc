/** Creates the objects of a recording in a new server. */
import { setTimeout as sleep } from "node:timers/promises";
import { isObject } from "../../lib/json/values.ts";
import { escapeSegment } from "../../testing/recording/escape-segment.ts";
import type { InitialObject, RecordedObject } from "../../testing/recording/initial-state.ts";
import { placeholderPattern } from "../../testing/recording/placeholder.ts";
import { ask, type Json, RequestRejected, type Sender } from "../client/ask.ts";

/** Those that others need are first; those that reject or limit other objects are last. */
const firstResources = ["namespaces", "customresourcedefinitions", "priorityclasses", "serviceaccounts"];
const lastResources = ["limitranges", "resourcequotas", "apiservices"];
const admissionGroup = "/apis/admissionregistration.k8s.io/";

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";
/** The server sets them. */
const ownMetadata = [
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
  "managedFields",
  "ownerReferences",
];

/** How long a definition of custom resources may need: two seconds. */
const establishPollMs = 20;
const establishPollsMax = 100;

/**
 * Creates objects: namespaces first, then definitions of custom resources, and owners before the
 * objects that they own. Objects that exist in every server get the recorded state.
 *
 * @returns why objects could not be created, such as `/api/v1/nodes/a: …`
 * @throws Error if the server does not answer
 */
export async function createObjects(server: Sender, objects: readonly InitialObject[]): Promise<readonly string[]> {
  const own = objects.filter((one) => !isOfServer(one));
  const uids = new Map<string, string>();
  const missing = missingNamespaces(own);
  let left = [...missing, ...own].sort((a, b) => rankOf(a) - rankOf(b));
  const recordedUids = new Set(own.map(({ object }) => object?.metadata.uid));
  for (;;) {
    const problems: string[] = [];
    const failed: InitialObject[] = [];
    for (const one of left) {
      const problem = await tryCreate(server, one, { uids, recordedUids });
      if (problem === undefined) continue;
      problems.push(`${pathOf(one)}: ${problem}`);
      failed.push(one);
    }
    // Others that were created meanwhile can be what an object needs.
    if (failed.length === 0 || failed.length === left.length) return problems;
    left = failed;
  }
}

interface Uids {
  /** The new UIDs by the recorded ones. */
  readonly uids: Map<string, string>;
  readonly recordedUids: ReadonlySet<unknown>;
}

async function tryCreate(server: Sender, one: InitialObject, known: Uids): Promise<string | undefined> {
  const { object } = one;
  if (object === undefined) return "the recording contains only its metadata";
  const owners = ownersOf(object, known);
  if (owners === undefined) return "its owner could not be created";
  try {
    const created = await write(server, one, withoutOwnMetadata(object, owners));
    if (typeof object.metadata.uid === "string") known.uids.set(object.metadata.uid, created.metadata.uid);
    if (one.resource !== "customresourcedefinitions" || (await isEstablished(server, pathOf(one)))) return undefined;
    return "it is not established";
  } catch (error) {
    if (error instanceof RequestRejected) return error.message;
    throw error;
  }
}

/** Creates an object, or updates the one that exists, then its status and its field managers. */
async function write(server: Sender, one: InitialObject, body: Json): Promise<Json> {
  const path = pathOf(one);
  const replace = async (content: Json): Promise<Json> => {
    const { metadata } = await ask(server, "GET", path);
    const { uid, resourceVersion } = metadata;
    return ask(server, "PUT", path, { body: { ...content, metadata: { ...content.metadata, uid, resourceVersion } } });
  };
  let written: Json;
  try {
    written = await ask(server, "POST", one.collection, { body });
  } catch (error) {
    if (!(error instanceof RequestRejected) || error.status !== 409) throw error;
    written = await replace(body);
  }
  if (body.status !== undefined && !firstResources.slice(0, 2).includes(one.resource))
    await writeStatus(server, path, { ...written, status: body.status });
  const managedFields = one.object?.metadata.managedFields;
  if (Array.isArray(managedFields)) return replace({ ...written, metadata: { ...written.metadata, managedFields } });
  return written;
}

/** Kinds without this subresource got their status when they were created. */
async function writeStatus(server: Sender, path: string, body: Json): Promise<void> {
  try {
    await ask(server, "PUT", `${path}/status`, { body });
  } catch (error) {
    if (!(error instanceof RequestRejected) || (error.status !== 404 && error.status !== 405)) throw error;
  }
}

/** Waits until objects of the definition can be created. */
async function isEstablished(server: Sender, path: string): Promise<boolean> {
  for (let polls = 0; polls < establishPollsMax; polls++) {
    const { status } = await ask(server, "GET", path);
    const conditions: readonly Json[] = status?.conditions ?? [];
    if (conditions.some(({ type, status: value }) => type === "Established" && value === "True")) return true;
    await sleep(establishPollMs);
  }
  return false;
}

/**
 * References to the new owners. The garbage collector would delete objects whose owner has another
 * UID, or is not in the recording: the latter references are left out.
 *
 * @returns undefined while an owner does not exist
 */
function ownersOf({ metadata }: RecordedObject, { uids, recordedUids }: Uids): readonly object[] | undefined {
  const references: readonly unknown[] = Array.isArray(metadata.ownerReferences) ? metadata.ownerReferences : [];
  const owners = references.filter(isObject).filter(({ uid }) => recordedUids.has(uid));
  if (owners.some(({ uid }) => !uids.has(uid as string))) return undefined;
  return owners.map((owner) => ({ ...owner, uid: uids.get(owner.uid as string) }));
}

function withoutOwnMetadata(object: RecordedObject, ownerReferences: readonly object[]): Json {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([name]) => !ownMetadata.includes(name)));
  if (ownerReferences.length > 0) metadata.ownerReferences = ownerReferences;
  if (isObject(metadata.annotations)) metadata.annotations = withoutPlaceholder(metadata.annotations);
  return { ...object, metadata };
}

/** kubectl could not parse a placeholder. Without the annotation, it adds one. */
function withoutPlaceholder(annotations: Record<string, unknown>): Record<string, unknown> {
  const { [lastApplied]: applied, ...rest } = annotations;
  const isKept = typeof applied === "string" && applied.startsWith("{") && !placeholderPattern.test(applied);
  return isKept ? annotations : rest;
}

/** Namespaces whose objects were recorded, but which were not. */
function missingNamespaces(objects: readonly InitialObject[]): readonly InitialObject[] {
  const known = new Set(objects.filter(({ resource }) => resource === "namespaces").map(({ name }) => name));
  const names = new Set(objects.map(({ namespace }) => namespace).filter((name) => name !== "" && !known.has(name)));
  return [...names].map((name) => ({
    collection: "/api/v1/namespaces",
    resource: "namespaces",
    namespace: "",
    name,
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
  }));
}

/** Objects that describe the server itself. Each server maintains its own ones. */
function isOfServer({ resource, namespace, name }: InitialObject): boolean {
  if (resource === "configmaps") return name === "kube-root-ca.crt";
  return (
    namespace === "default" && name === "kubernetes" && ["services", "endpoints", "endpointslices"].includes(resource)
  );
}

function rankOf({ collection, resource }: InitialObject): number {
  const first = firstResources.indexOf(resource);
  if (first >= 0) return first;
  const isLast = lastResources.includes(resource) || collection.startsWith(admissionGroup);
  return firstResources.length + (isLast ? 1 : 0);
}

function pathOf({ collection, name }: InitialObject): string {
  return `${collection}/${escapeSegment(name)}`;
}
