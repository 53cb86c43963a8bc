/** Requests of a study, as an administrator. */
import { eventually } from "../../src/testing/eventually.ts";
import type { Connection } from "../differential/connection.ts";
import type { Body } from "./contract.ts";

/** What identifies an object. */
export interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** @param body an object, or text of the type */
export async function exchange(
  connection: Connection,
  line: string,
  body?: object | string,
  type?: string,
): Promise<Answer> {
  const [method = "", path = ""] = line.split(" ");
  const answer = await connection.send({
    method,
    path,
    headers: {
      accept: "application/json",
      "content-type": type ?? (method === "PATCH" ? "application/merge-patch+json" : "application/json"),
    },
    ...(body !== undefined && { body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) }),
  });
  return { status: answer.status, body: JSON.parse(answer.body.toString()) };
}

/** @throws Error when the server rejects the request */
export async function sendOver(...request: Parameters<typeof exchange>): Promise<Body> {
  const { status, body } = await exchange(...request);
  if (status >= 300) throw new Error(`${request[1]}: ${status} ${body.message}`);
  return body;
}

/** @returns undefined when the answer is 404 */
export async function readOver(connection: Connection, path: string): Promise<Body> {
  const { status, body } = await exchange(connection, `GET ${path}`);
  return status === 404 ? undefined : body;
}

/** Applies an object. @param text of it, in JSON or YAML @throws Error when the server rejects it */
export async function applyOver(
  connection: Connection,
  object: Named,
  text: string,
  subresource?: string,
): Promise<void> {
  const path = `${await pathOf(connection, object)}${subresource === undefined ? "" : `/${subresource}`}`;
  await sendOver(connection, `PATCH ${path}?fieldManager=study&force=true`, text, "application/apply-patch+yaml");
}

/** From discovery, which serves a new kind a moment after its definition. */
async function pathOf(connection: Connection, { apiVersion, kind, metadata }: Named): Promise<string> {
  const base = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const list = await eventually(async () => (await readOver(connection, base)) ?? false, { timeoutMs: 60_000 });
  const resources: readonly Body[] = list.resources;
  const found = resources.find((one) => one.kind === kind && !one.name.includes("/"));
  if (found === undefined) throw new Error(`${apiVersion} has no ${kind}`);
  const namespace = found.namespaced ? `/namespaces/${metadata.namespace ?? "default"}` : "";
  return `${base}${namespace}/${found.name}/${metadata.name}`;
}
