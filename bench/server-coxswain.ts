/**
 * Subject (c): this server on LMDB with durable writes. Arguments: the directory, an optional (or
 * empty) authority for clients, and optional admission plugins to disable, separated by commas.
 */
import { defaultOptions, startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

const [dataDir, clientCaFile = "", disabled = ""] = process.argv.slice(2);
const server = await startServer({
  storage: "lmdb",
  dataDir: dataDir as string,
  durability: "full",
  serviceClusterIpRange: "10.96.0.0/12",
  ...(clientCaFile !== "" && { clientCaFile }),
  ...(disabled !== "" && { admission: { ...defaultOptions.admission, disable: disabled.split(",") } }),
});
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
serveParent({ ...targetOfKubeconfig(server.kubeconfig), kubeconfig: server.kubeconfig });
