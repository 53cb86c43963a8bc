/** Deletes what a sequence has created, so that servers stay small in long runs. */
import { isObject } from "../../src/lib/json/values.ts";
import type { Connection } from "./connection.ts";
import type { Step } from "./contract.ts";
import { fillText } from "./references.ts";
import { touchedBy } from "./touched.ts";

type Json = Record<string, unknown>;

/** Objects with finalizers would stay without controllers. Namespaces stay: they are small. */
export async function cleanUp(connection: Connection, steps: readonly Step[], namespace: string): Promise<void> {
  const { collections, objects } = touchedBy(steps);
  const fill = (path: string): string => fillText(path, { namespace }, new Map());
  for (const path of objects.map(fill)) await deleteObject(connection, path);
  for (const path of collections.map(fill)) await deleteAll(connection, path);
}

async function deleteAll(connection: Connection, path: string): Promise<void> {
  const deleted = await send(connection, "DELETE", `${path}?gracePeriodSeconds=0&propagationPolicy=Background`);
  for (const { metadata } of Array.isArray(deleted.items) ? (deleted.items as { metadata?: Json }[]) : []) {
    if (!Array.isArray(metadata?.finalizers) || typeof metadata.name !== "string") continue;
    await deleteObject(connection, `${path}/${encodeURIComponent(metadata.name)}`);
  }
}

async function deleteObject(connection: Connection, path: string): Promise<void> {
  const object = await send(connection, "DELETE", `${path}?gracePeriodSeconds=0&propagationPolicy=Background`);
  if (!isObject(object.metadata) || object.metadata.deletionTimestamp === undefined) return;
  await send(connection, "PATCH", path, { metadata: { finalizers: null } });
  const { name } = object.metadata;
  if (object.kind === "Namespace") await finalize(connection, String(name));
}

function finalize(connection: Connection, name: string): Promise<Json> {
  const body = { metadata: { name }, spec: { finalizers: [] } };
  return send(connection, "PUT", `/api/v1/namespaces/${name}/finalize`, body);
}

async function send(connection: Connection, method: string, path: string, body?: object): Promise<Json> {
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  try {
    const answer = await connection.send({
      method,
      path,
      headers: { "content-type": type },
      ...(body !== undefined && { body: Buffer.from(JSON.stringify(body)) }),
    });
    const parsed: unknown = JSON.parse(answer.body.toString());
    return isObject(parsed) ? parsed : {};
  } catch {
    return {}; // The object stays; the next sequence has other names.
  }
}
