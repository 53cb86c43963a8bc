/**
 * The server of the fairness bench, in memory. Arguments: the file of its tokens, and `on` or `off`
 * for flow control.
 */
import { startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

const [tokenAuthFile, fairness] = process.argv.slice(2);
const enablePriorityAndFairness = fairness === "on";
const server = await startServer({ storage: "memory", tokenAuthFile, enablePriorityAndFairness });
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
serveParent({ ...targetOfKubeconfig(server.kubeconfig) });
