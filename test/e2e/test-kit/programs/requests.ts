/** The requests of random programs. Each server has one connection for all of them, because connections are expensive. */
import assert from "node:assert/strict";
import type { Http2Request } from "../../../support/http2-client.ts";
import type { Http2Connection } from "../../../support/watch-connection.ts";
import { kindAt, labelsOf } from "./kinds.ts";
import type { Answered } from "./model.ts";
import type { WriteStep } from "./program.ts";

/** @param revision the resourceVersion that is sent; none when undefined */
export function requestOf(step: WriteStep, name: string, revision?: number): [line: string, Http2Request] {
  const kind = kindAt(step.kind);
  const path = `${kind.path}/${name}`;
  if (step.do === "delete") {
    const preconditions = revision !== undefined && { preconditions: { resourceVersion: String(revision) } };
    return [`DELETE ${path}`, { body: { ...preconditions } }];
  }
  const sendsVersion = revision !== undefined && step.do !== "create";
  const metadata = { name, labels: labelsOf(step.value), ...(sendsVersion && { resourceVersion: String(revision) }) };
  const body = { metadata, ...kind.fields(name, step.value) };
  const type = step.do === "patch" ? "application/merge-patch+json" : "application/json";
  const line = step.do === "create" ? `POST ${kind.path}` : `${step.do.toUpperCase()} ${path}`;
  return [line, { body, headers: { "content-type": type } }];
}

interface ListAnswer {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly Answered[];
}

/** @throws AssertionError unless it can be listed */
export async function listed(connection: Pick<Http2Connection, "send">, path: string): Promise<ListAnswer> {
  const { status, body } = await connection.send(`GET ${path}`);
  assert.equal(status, 200, path);
  return body;
}
