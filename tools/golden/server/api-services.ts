/**
 * Records the APIServices that kube-apiserver registers for its own group versions.
 *   npm run golden api-services -- KUBECONFIG FILE
 * The kube-apiserver is empty. For `all-versions.jsonl`, it runs with `--runtime-config=api/all=true`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { openServerClient } from "./client.ts";

const [kubeconfig, file] = process.argv.slice(2);
if (kubeconfig === undefined || file === undefined) throw new Error("usage: api-services.ts KUBECONFIG FILE");

interface Recorded {
  readonly metadata: { readonly [field: string]: unknown; readonly managedFields: readonly object[] };
  readonly status: { readonly conditions: readonly object[] };
}

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const { body } = await send("GET /apis/apiregistration.k8s.io/v1/apiservices");
const lines = (body as { items: Recorded[] }).items.map(({ metadata, status, ...rest }) => {
  const { uid, creationTimestamp, resourceVersion, managedFields, ...meta } = metadata;
  const entries = managedFields.map((entry) => ({ ...entry, time: undefined }));
  const conditions = status.conditions.map((condition) => ({ ...condition, lastTransitionTime: undefined }));
  return JSON.stringify({ ...rest, metadata: { ...meta, managedFields: entries }, status: { conditions } });
});
writeFileSync(file, `${lines.join("\n")}\n`);
process.exit();
