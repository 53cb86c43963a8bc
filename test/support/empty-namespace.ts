/** Removes what a test has created in the namespace `default`, so that the next one can use the same server. */
import assert from "node:assert/strict";
import type { RawClient } from "./raw-client.ts";

const resources = [
  "api/v1/namespaces/default/configmaps",
  "api/v1/namespaces/default/secrets",
  "api/v1/namespaces/default/pods",
  "api/v1/namespaces/default/services",
  "apis/apps/v1/namespaces/default/deployments",
  "apis/apps/v1/namespaces/default/statefulsets",
  "apis/batch/v1/namespaces/default/cronjobs",
  "apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
];

/** Deletes the objects of the common resources, except the Service `kubernetes`. */
export async function emptyDefaultNamespace(client: RawClient): Promise<void> {
  const query = "gracePeriodSeconds=0&propagationPolicy=Background&fieldSelector=metadata.name!=kubernetes";
  const answers = await Promise.all(
    resources.map((resource) => client.send({ method: "DELETE", path: `/${resource}?${query}` })),
  );
  for (const { status, text } of answers) assert.equal(status, 200, text);
}
