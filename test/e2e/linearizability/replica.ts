/**
 * The program of one server of the cluster, which the test kills and starts. Its argument is the JSON of
 * {@link ReplicaConfig}; it prints its kubeconfig when it serves. It imports no sources: it would compile them at each
 * start, which takes three times as long.
 */
import type { ServerOptions } from "../../../src/index.ts";

export interface ReplicaConfig {
  /** The URL of the bundled library. */
  readonly library: string;
  readonly options: Partial<ServerOptions>;
}

/** What it prints before the kubeconfig. */
export const readyLine = "serving";

if (import.meta.main) {
  const { library, options } = JSON.parse(process.argv[2] as string) as ReplicaConfig;
  const { startServer } = (await import(library)) as typeof import("../../../src/index.ts");
  const logger = {
    info() {},
    warn: (message: string, fields?: object) => console.error(message, JSON.stringify(fields)),
    error: (message: string, fields?: object) => console.error(message, JSON.stringify(fields)),
  };
  const { kubeconfig } = await startServer({ ...options, logger });
  process.stdin.resume().once("end", () => process.exit()); // The test has ended without `close`.
  console.log(`${readyLine}\n${kubeconfig}`);
}
