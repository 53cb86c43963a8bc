import { ApiError, badRequest } from "../../apimachinery/errors.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Snapshot, TestServer } from "../contract.ts";
import type { ControlRoute } from "./contract.ts";

/** What the paths need of a server. */
export type SnapshotMethods = Pick<TestServer, "snapshot" | "restore">;

/** Each keeps the objects that have changed since. */
const snapshotsMax = 100;
const validName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * `POST /testing/snapshots` with `{name}` takes a snapshot, `GET` lists them, `POST
 * /testing/snapshots/NAME/restore` restores one, `DELETE /testing/snapshots/NAME` forgets it. They
 * are gone when the server ends.
 */
export function snapshotRoutes(server: SnapshotMethods): readonly ControlRoute[] {
  const taken = new Map<string, Snapshot>();
  return [
    { method: "GET", path: "snapshots", handle: () => ({ json: { snapshots: Array.from(taken, shown) } }) },
    {
      method: "POST",
      path: "snapshots",
      async handle({ body }) {
        const name = readName(await body());
        const snapshot = await server.snapshot();
        if (taken.has(name)) throw badRequest(`name: there is a snapshot ${JSON.stringify(name)} already`);
        if (taken.size >= snapshotsMax) throw badRequest(`there can be ${snapshotsMax} snapshots at most`);
        taken.set(name, snapshot);
        return { status: 201, json: shown([name, snapshot]) };
      },
    },
    {
      method: "POST",
      path: "snapshots/*/restore",
      async handle({ parameters: [name = ""] }) {
        const snapshot = find(taken, name);
        await server.restore(snapshot);
        return { json: shown([name, snapshot]) };
      },
    },
    {
      method: "DELETE",
      path: "snapshots/*",
      handle({ parameters: [name = ""] }) {
        const snapshot = find(taken, name);
        taken.delete(name);
        return { json: shown([name, snapshot]) };
      },
    },
  ];
}

function shown([name, { resourceVersion }]: readonly [string, Snapshot]): object {
  return { name, resourceVersion };
}

/** @throws ApiError 400 */
function readName(body: unknown): string {
  if (!isObject(body) || typeof body.name !== "string" || Object.keys(body).length > 1)
    throw badRequest("the body must be an object with the field name, a text");
  if (!validName.test(body.name)) throw badRequest("name: must be a DNS label, such as before-the-upgrade");
  return body.name;
}

/** @throws ApiError 404 */
function find(taken: ReadonlyMap<string, Snapshot>, name: string): Snapshot {
  const found = taken.get(name);
  if (found === undefined) throw new ApiError({ code: 404, reason: "NotFound", message: "there is no such snapshot" });
  return found;
}
