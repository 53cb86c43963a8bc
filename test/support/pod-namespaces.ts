/** Namespaces for pods. */
import assert from "node:assert/strict";
import type { RawClient } from "./raw-client.ts";

/** Creates the ServiceAccount `default`, without which pods are rejected, where no controller does. */
export async function createDefaultAccounts(
  client: Pick<RawClient, "send">,
  ...namespaces: readonly string[]
): Promise<void> {
  for (const namespace of namespaces) {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
    const answer = await client.send({ method: "POST", path, body: { metadata: { name: "default" } } });
    assert.equal(answer.status, 201, answer.text);
  }
}
