/** Installs objects in an order that works, and removes them again. */

import type { TestClients, TestResponse } from "../contract.ts";
import { waitUntil } from "../eventually.ts";
import type { Finalizers } from "../held-objects.ts";
import { kitAgent } from "../kit-agent.ts";
import type { Installation, InstalledObject, InstallOptions } from "./contract.ts";
import { inInstallOrder, isDefinition } from "./install-order.ts";
import type { ManifestObject } from "./manifest.ts";
import { type Created, removeAll } from "./remove.ts";
import { type KindPaths, type ResourcePaths, resourcePaths } from "./resource-paths.ts";

/** What an installation needs of a server. */
export interface InstallNeeds {
  readonly fetch: TestClients["fetch"];
  readonly finalizers: Finalizers;
}

const establishedMs = 20_000;

/**
 * Installs objects: definitions first, then namespaces, then the others. Definitions are awaited until their kinds are
 * served. An object that exists is changed as by a server-side apply. When one cannot be installed, those that were
 * created are removed again.
 *
 * @throws Error with the message of the server, when an object cannot be installed
 */
export async function install(
  objects: readonly ManifestObject[],
  options: InstallOptions,
  needs: InstallNeeds,
): Promise<Installation> {
  const created: Created[] = [];
  const installed: InstalledObject[] = [];
  const remove = (): Promise<void> => removeAll(created.splice(0).reverse(), needs);
  const run: Run = { paths: resourcePaths(needs), options, needs, created, installed };
  try {
    const definitions = objects.filter(isDefinition);
    await installPass(definitions, run);
    await Promise.all(definitions.map((definition) => established(definition, needs)));
    run.paths.forget();
    await installPass(inInstallOrder(objects.filter((object) => !isDefinition(object))), run);
  } catch (error) {
    await remove();
    throw error;
  }
  return { objects: installed, remove };
}

/** An installation that runs. */
interface Run {
  readonly paths: ResourcePaths;
  readonly options: InstallOptions;
  readonly needs: InstallNeeds;
  readonly created: Created[];
  readonly installed: InstalledObject[];
}

/**
 * Installs objects one after the other. Those that fail are tried again after the others, as long as this helps: they can
 * depend on one another in any order.
 * @throws the first error, when nothing helps
 */
async function installPass(objects: readonly ManifestObject[], run: Run): Promise<void> {
  let failure: unknown;
  const failed: ManifestObject[] = [];
  for (const object of objects) {
    try {
      await installOne(object, run);
    } catch (error) {
      failure ??= error;
      failed.push(object);
    }
  }
  if (failed.length === objects.length && failed.length > 0) throw failure;
  if (failed.length > 0) await installPass(failed, run);
}

async function installOne(object: ManifestObject, run: Run): Promise<void> {
  const { fetch } = run.needs;
  const kind = await run.paths.of(object);
  const namespace = kind.namespaced ? object.namespace || (run.options.namespace ?? "default") : "";
  const collection = kind.collection(namespace);
  const headers = { "content-type": "application/json" };
  const query = `fieldManager=${kitAgent}&fieldValidation=Strict`;
  const creation = await fetch(`${collection}?${query}`, { method: "POST", headers, body: object.json });
  const isThere = creation.status === 409 && object.name !== "";
  const answer = isThere ? await apply(object, { fetch, kind, namespace, query }) : creation;
  const { metadata, message } = await answer.json();
  if (!answer.ok) throw new Error(`${object.place}: the ${object.kind} ${object.name}: ${message}`);
  const { name, uid } = metadata as { readonly name: string; readonly uid: string };
  const isNew = answer.status === 201;
  const { apiVersion } = object;
  run.installed.push({ apiVersion, kind: object.kind, namespace, name, created: isNew });
  if (isNew) run.created.push(createdObject(object, `${collection}/${name}`, { namespace, name, uid }));
}

interface Place {
  readonly fetch: TestClients["fetch"];
  readonly kind: KindPaths;
  readonly namespace: string;
  readonly query: string;
}

async function apply(object: ManifestObject, { fetch, kind, namespace, query }: Place): Promise<TestResponse> {
  const path = `${kind.collection(namespace)}/${encodeURIComponent(object.name)}?${query}&force=true`;
  const headers = { "content-type": "application/apply-patch+yaml" };
  return fetch(path, { method: "PATCH", headers, body: object.json });
}

function createdObject(
  object: ManifestObject,
  path: string,
  { namespace, name, uid }: Pick<Created, "namespace" | "name" | "uid">,
): Created {
  if (!isDefinition(object)) return { path, kind: object.kind, namespace, name, uid };
  const [resource = "", ...group] = name.split(".");
  return { path, kind: object.kind, namespace, name, uid, defines: { resource, group: group.join(".") } };
}

/** Waits until the kind of a definition is served. @throws Error when its names are taken, or it takes too long */
async function established({ name, place }: ManifestObject, { fetch }: InstallNeeds): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${encodeURIComponent(name)}`;
  let taken: string | undefined;
  await waitUntil(async () => {
    const { status } = await (await fetch(path)).json();
    const conditions: readonly Condition[] = status?.conditions ?? [];
    taken = conditions.find(({ type, status: value }) => type === "NamesAccepted" && value === "False")?.message;
    return (
      taken !== undefined || conditions.some(({ type, status: value }) => type === "Established" && value === "True")
    );
  }, establishedMs);
  if (taken !== undefined) throw new Error(`${place}: the CustomResourceDefinition ${name}: ${taken}`);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message: string;
}
