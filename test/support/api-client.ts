/** Sends requests to the resource endpoints over a memory registry, without a socket. */
import { ApiError } from "../../src/apimachinery/errors.ts";
import type { Authorizer } from "../../src/authorization/contract.ts";
import type { ResourceEndpoints } from "../../src/http/contract.ts";
import { createObject } from "../../src/http/endpoints/create.ts";
import { deleteObject } from "../../src/http/endpoints/delete.ts";
import { deleteCollection } from "../../src/http/endpoints/delete-collection.ts";
import { getObject } from "../../src/http/endpoints/get.ts";
import { listObjects } from "../../src/http/endpoints/list.ts";
import { patchObject } from "../../src/http/endpoints/patch.ts";
import { updateObject } from "../../src/http/endpoints/update.ts";
import { sendError } from "../../src/http/errors.ts";
import { cbor } from "../../src/http/representation/cbor.ts";
import { PieceMemory } from "../../src/http/representation/piece-memory.ts";
import { serveResource } from "../../src/http/serve.ts";
import type { RegistryContext } from "../../src/registry/contract.ts";
import { ask } from "./request-context.ts";

const memory = new PieceMemory();
const allowAll: Authorizer = () => ({ decision: "allow", reason: "" });

function verbsWith(authorize: Authorizer): ResourceEndpoints["verbs"] {
  return {
    create: createObject,
    delete: (context, registry) => deleteObject(context, registry, authorize),
    deletecollection: (context, registry) => deleteCollection(context, registry, memory),
    get: getObject,
    list: (context, registry) => listObjects(context, registry, memory),
    patch: (context, registry) => patchObject(context, registry, authorize),
    update: (context, registry) => updateObject(context, registry, authorize),
  };
}

const patchTypes: Readonly<Record<string, string>> = {
  JSON: "application/json-patch+json",
  MERGE: "application/merge-patch+json",
  STRATEGIC: "application/strategic-merge-patch+json",
  APPLY: "application/apply-patch+yaml",
};

export interface ApiAnswer {
  readonly status: number;
  readonly warnings: string;
  readonly contentType: string;
  readonly bytes: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
  readonly body: any;
}

/**
 * Sends one request.
 * @param line `POST /api/v1/namespaces`; `MERGE`, `JSON`, `STRATEGIC` and `APPLY` instead of the
 *   method send a patch of that type
 * @param sent text and bytes are sent unchanged, other values as JSON; undefined sends no body
 * @param authorize authorizes the checks of endpoints; the request itself is not authorized
 */
export async function send(
  registry: RegistryContext,
  line: string,
  sent?: unknown,
  headers: Readonly<Record<string, string>> = {},
  authorize: Authorizer = allowAll,
): Promise<ApiAnswer> {
  const [word = "", path = ""] = line.split(" ");
  const type = patchTypes[word];
  const body = Buffer.isBuffer(sent)
    ? sent
    : Buffer.from(sent === undefined ? "" : typeof sent === "string" ? sent : JSON.stringify(sent));
  const answer = await ask(
    async (context) => {
      if (registry.gates.enabled("CBORServingAndStorage"))
        Object.assign(context, { encodings: [...context.encodings, cbor] });
      try {
        await serveResource(context, registry, { verbs: verbsWith(authorize), computed: {}, subresources: {} });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        sendError(context, error, { info() {}, warn() {}, error() {} });
      }
    },
    {
      method: type === undefined ? word : "PATCH",
      path,
      body,
      headers: { "content-type": type ?? "application/json", ...headers },
    },
  );
  const text = answer.body.toString();
  return {
    status: answer.status,
    warnings: [answer.headers.warning ?? []].flat().join(", "),
    contentType: String(answer.headers["content-type"] ?? ""),
    bytes: answer.body,
    body: text.startsWith("{") ? JSON.parse(text) : text,
  };
}
