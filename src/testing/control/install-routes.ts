import { ApiError, badRequest } from "../../apimachinery/errors.ts";
import type { Installation } from "../install/contract.ts";
import { checkCount, type ManifestObject, manifestBytesMax, readManifest } from "../install/manifest.ts";
import type { TestTools } from "../tools.ts";
import { asBadRequest } from "./as-bad-request.ts";
import type { ControlRoute } from "./contract.ts";

/** Each keeps the list of its objects. */
const installationsMax = 1000;
const namespaceName = /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/;

/**
 * `POST /testing/install` installs the objects of a body, YAML with any number of documents or JSON; `?namespace=` is that of
 * objects that need one and name none. `GET` lists installations, `DELETE /testing/install/NAME` removes what one created.
 */
export function installRoutes(tools: TestTools): readonly ControlRoute[] {
  const installations = new Map<string, Installation>();
  let count = 0;
  return [
    { method: "GET", path: "install", handle: () => ({ json: { installations: Array.from(installations, shown) } }) },
    {
      method: "POST",
      path: "install",
      async handle({ query, bytes, signal }) {
        const namespace = readNamespace(query.get("namespace"));
        const body = await bytes(manifestBytesMax);
        if (installations.size >= installationsMax)
          throw badRequest(`there can be ${installationsMax} installations at most`);
        const installation = await asBadRequest(async () => tools.installObjects(readBody(body), { namespace }));
        if (signal.aborted) {
          await installation.remove();
          throw badRequest("the client has gone");
        }
        const name = `install-${++count}`;
        installations.set(name, installation);
        return { status: 201, json: shown([name, installation]) };
      },
    },
    {
      method: "DELETE",
      path: "install/*",
      async handle({ parameters: [name = ""] }) {
        const found = installations.get(name);
        if (found === undefined)
          throw new ApiError({ code: 404, reason: "NotFound", message: "there is no such installation" });
        await asBadRequest(() => found.remove());
        installations.delete(name);
        return { json: shown([name, found]) };
      },
    },
  ];
}

function shown([name, { objects }]: readonly [string, Installation]): object {
  return { name, objects };
}

/** @throws ApiError 400 */
function readNamespace(text: string | null): string {
  if (text === null) return "default";
  if (!namespaceName.test(text)) throw badRequest("namespace: must be the name of a namespace");
  return text;
}

/** @throws ManifestError */
function readBody(bytes: Buffer): readonly ManifestObject[] {
  const objects = readManifest(bytes, "body");
  checkCount(objects, "body");
  return objects;
}
