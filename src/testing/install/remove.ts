/** Removes objects that an installation has created. */
import type { TestClients } from "../contract.ts";
import { waitUntil } from "../eventually.ts";
import { type Finalizers, type HeldScope, releaseHeld } from "../held-objects.ts";

/** An object that exists until it is removed. */
export interface Created {
  readonly path: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** Of the object that was created: another one of the same name stays. */
  readonly uid: string;
  /** For definitions: the resource. */
  readonly defines?: { readonly group: string; readonly resource: string };
}

interface RemoveNeeds {
  readonly fetch: TestClients["fetch"];
  readonly finalizers: Finalizers;
}

/** How long controllers may take to remove finalizers. */
const graceMs = 1000;
const goneMs = 20_000;

/**
 * Deletes objects in their order, and waits until they are gone. Finalizers that remain are removed, with a warning.
 * @throws Error when an object cannot be deleted
 */
export async function removeAll(objects: readonly Created[], needs: RemoveNeeds): Promise<void> {
  const left: Created[] = [];
  let failure: Error | undefined;
  for (const object of objects) {
    try {
      if (await remove(object, needs)) left.push(object);
    } catch (error) {
      failure ??= error as Error;
    }
  }
  await waitUntilGone(left, needs);
  if (failure !== undefined) throw failure;
}

/** @returns whether it is not gone yet @throws Error with the message of the server */
async function remove({ path, uid, kind, name }: Created, { fetch }: RemoveNeeds): Promise<boolean> {
  const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid } };
  const response = await fetch(path, { method: "DELETE", body });
  const { message, metadata } = await response.json();
  if (response.status === 404 || response.status === 409) return false;
  if (!response.ok) throw new Error(`the ${kind} ${name} cannot be deleted: ${message}`);
  return metadata?.deletionTimestamp !== undefined;
}

async function waitUntilGone(objects: readonly Created[], needs: RemoveNeeds): Promise<void> {
  let left = objects;
  const allGone = async (): Promise<boolean> => {
    const exist = await Promise.all(left.map((object) => exists(object, needs)));
    left = left.filter((_, index) => exist[index]);
    if (left.length > 0) throw new Error(`these objects still exist: ${left.map(({ path }) => path).join(", ")}`);
    return true;
  };
  if (objects.length === 0) return;
  try {
    await waitUntil(allGone, graceMs);
  } catch {
    for (const object of left) await releaseIn(object, needs);
    await waitUntil(allGone, goneMs);
  }
}

async function exists({ path, uid }: Created, { fetch }: RemoveNeeds): Promise<boolean> {
  const response = await fetch(path);
  const { metadata } = await response.json();
  return response.ok && metadata.uid === uid;
}

/** Releases the object, or what holds it: the content of a namespace, and the objects of a definition. */
async function releaseIn(
  { path, kind, namespace, name, defines }: Created,
  { finalizers }: RemoveNeeds,
): Promise<void> {
  const scope: HeldScope = defines ?? (kind === "Namespace" ? { namespace: name } : scopeOf(path, namespace, name));
  await releaseHeld(scope, finalizers);
}

function scopeOf(path: string, namespace: string, name: string): HeldScope {
  const segments = path.split("/");
  const group = segments[1] === "apis" ? (segments[2] as string) : "";
  return { group, resource: segments.at(-2) as string, name, ...(namespace !== "" && { namespace }) };
}
