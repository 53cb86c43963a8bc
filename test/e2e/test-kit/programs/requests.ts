/** The requests of the writes in random programs. */
import type { TestServer } from "../../../../src/testing/index.ts";
import { kindAt, labelsOf } from "./kinds.ts";
import type { WriteStep } from "./program.ts";

/** @param revision the resourceVersion that is sent; none when undefined */
export function requestOf(step: WriteStep, name: string, revision?: number): Parameters<TestServer["fetch"]> {
  const kind = kindAt(step.kind);
  const path = `${kind.path}/${name}`;
  if (step.do === "delete") {
    const preconditions = revision !== undefined && { preconditions: { resourceVersion: String(revision) } };
    return [path, { method: "DELETE", body: { ...preconditions } }];
  }
  const sendsVersion = revision !== undefined && step.do !== "create";
  const metadata = { name, labels: labelsOf(step.value), ...(sendsVersion && { resourceVersion: String(revision) }) };
  const body = { metadata, ...kind.fields(name, step.value) };
  return step.do === "create" ? [kind.path, { method: "POST", body }] : [path, { method: step.do.toUpperCase(), body }];
}
