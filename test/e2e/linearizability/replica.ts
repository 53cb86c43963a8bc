/**
 * The program of one server of the cluster, which the test kills and starts. Its argument is the JSON
 * of {@link ReplicaConfig}; it prints its kubeconfig when it serves.
 */
import { defaultOptions, startServer } from "../../../src/index.ts";
import { etcdDefaults } from "../../../src/storage/etcd/options.ts";
import { quietControllers } from "../../support/start-test-server.ts";

export interface ReplicaConfig {
  readonly servers: readonly string[];
}

/** What it prints before the kubeconfig. */
export const readyLine = "serving";

if (import.meta.main) {
  const { servers } = JSON.parse(process.argv[2] as string) as ReplicaConfig;
  const logger = {
    info() {},
    warn: (message: string, fields?: object) => console.error(message, JSON.stringify(fields)),
    error: (message: string, fields?: object) => console.error(message, JSON.stringify(fields)),
  };
  const { kubeconfig } = await startServer({
    storage: "etcd",
    etcd: { ...etcdDefaults, servers },
    storageMediaType: "application/json",
    controllers: quietControllers,
    leaderElection: {
      ...defaultOptions.leaderElection,
      leaseDurationMs: 4_000,
      renewDeadlineMs: 3_000,
      retryPeriodMs: 500,
    },
    logger,
  });
  process.stdin.resume().once("end", () => process.exit()); // The test has ended without `close`.
  console.log(`${readyLine}\n${kubeconfig}`);
}
