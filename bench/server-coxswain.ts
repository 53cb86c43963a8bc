/**
 * Subject (c): this server on LMDB with durable writes. Arguments: the directory, and an optional
 * authority for clients.
 */
import { startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

const [dataDir, clientCaFile] = process.argv.slice(2);
const server = await startServer({
  storage: "lmdb",
  dataDir: dataDir as string,
  durability: "full",
  ...(clientCaFile !== undefined && { clientCaFile }),
});
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
serveParent({ ...targetOfKubeconfig(server.kubeconfig), kubeconfig: server.kubeconfig });
