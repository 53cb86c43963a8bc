/**
 * This server in memory, with an audit log. Arguments: the directory and mode (`blocking`, `batch`)
 * of the log; without a mode there is no log.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultAuditOptions } from "../src/audit/options.ts";
import { startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

const [directory = "", mode] = process.argv.slice(2);
const policyFile = join(directory, "policy.yaml");
writeFileSync(policyFile, "{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}");
const log = { ...defaultAuditOptions.log, path: join(directory, `${mode}.log`), mode: mode ?? "blocking" };
const server = await startServer({
  storage: "memory",
  ...(mode !== undefined && { audit: { ...defaultAuditOptions, policyFile, log } }),
});
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
serveParent({ ...targetOfKubeconfig(server.kubeconfig) });
