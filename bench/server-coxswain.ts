/** Subject (c): this server on LMDB in the directory given, every write durable. */
import { startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

const server = await startServer({ storage: "lmdb", dataDir: process.argv[2] as string, durability: "full" });
process.once("SIGTERM", () => void server.close().then(() => process.exit(0)));
serveParent({ ...targetOfKubeconfig(server.kubeconfig) });
