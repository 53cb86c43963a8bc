/**
 * `coxswain admission explain`: sends one request as a dry run, and reads what the server says that
 * admission plugins, webhooks and policies did to it.
 */

import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { TraceStep } from "../../request/admission-trace.ts";
import { explainHeader } from "../../request/admission-trace.ts";
import { ask, type Json, parseObject } from "../client/ask.ts";
import type { Client, ClientRequest } from "../client/client.ts";

/** The requests that can be explained. */
export const operations = ["create", "update", "apply", "delete"] as const;
export type Operation = (typeof operations)[number];

/** What the server answers; see `admissionExplanationFilter`. */
export interface Explanation {
  readonly response: { readonly status: number; readonly body: Json | null };
  readonly steps: readonly TraceStep[];
  readonly hidden: number;
}

interface Options {
  readonly operation: Operation;
  /** For objects that name none. */
  readonly namespace: string;
  /** Impersonates this user. */
  readonly user: string | undefined;
  readonly groups: readonly string[];
}

/**
 * @throws RequestRejected if the server does not serve the kind
 * @throws Error if the object lacks its kind or name, or the server does not explain admission
 */
export async function explain(server: Client, object: Json, options: Options): Promise<Explanation> {
  const { method, path, headers, body } = await requestFor(server, object, options);
  const impersonation = {
    ...(options.user !== undefined && { "impersonate-user": options.user }),
    ...(options.groups.length > 0 && { "impersonate-group": options.groups }),
  };
  const answer = await server.send({
    method,
    path,
    headers: { ...headers, ...impersonation, [explainHeader]: "admission" },
    ...(body !== undefined && { body }),
  });
  if (answer.headers[explainHeader] === "admission") return JSON.parse(answer.body.toString()) as Explanation;
  const message: string | undefined = parseObject(answer.body)?.message;
  if (answer.status >= 300 && message !== undefined) throw new Error(message);
  throw new Error("the server does not explain admission; Coxswain does with --enable-admission-explain");
}

async function requestFor(
  server: Client,
  object: Json,
  { operation, namespace: defaultNamespace }: Options,
): Promise<ClientRequest> {
  const { collection, name } = await placeOf(server, object, defaultNamespace);
  const query = "dryRun=All";
  if (operation === "create") return { method: "POST", path: `${collection}?${query}`, body: object };
  if (name === "") throw new Error(`the object has no name, which ${operation} needs`);
  const path = `${collection}/${encodeURIComponent(name)}?${query}`;
  if (operation === "delete") return { method: "DELETE", path };
  if (operation === "update") return { method: "PUT", path, body: object };
  const headers = { "content-type": "application/apply-patch+yaml" };
  return { method: "PATCH", path: `${path}&fieldManager=coxswain-explain&force=true`, headers, body: object };
}

async function placeOf(
  server: Client,
  { apiVersion, kind, metadata = {} }: Json,
  defaultNamespace: string,
): Promise<{ readonly collection: string; readonly name: string }> {
  const groupVersion = typeof apiVersion === "string" ? parseGroupVersion(apiVersion) : undefined;
  if (groupVersion === undefined || typeof kind !== "string") throw new Error("the object has no apiVersion and kind");
  const root = groupVersion.group === "" ? `/api/${groupVersion.version}` : `/apis/${apiVersion}`;
  const { resources = [] } = await ask(server, "GET", root);
  const found = resources.find((one: Json) => one.kind === kind && !one.name.includes("/"));
  if (found === undefined) throw new Error(`the server has no kind ${JSON.stringify(kind)} in ${apiVersion}`);
  const namespace = metadata.namespace || defaultNamespace;
  const scope = found.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return { collection: `${root}${scope}/${found.name}`, name: metadata.name ?? "" };
}
