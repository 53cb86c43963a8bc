/**
 * The test kit: servers in the process of a test. Start with `startTestServer`.
 *
 * @packageDocumentation
 */
import { silentLogger } from "../apimachinery/logger.ts";
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "../options.ts";
import type { TestServer } from "./contract.ts";
import { type KitOptions, openKit } from "./kit.ts";

export type * from "../public-types.ts";
export type { TestServer } from "./contract.ts";
export type { KitOptions } from "./kit.ts";

export type {
  ChangedField,
  Timeline,
  TimelineChange,
  TimelineEntry,
  TimelineEntryBase,
  TimelineFault,
  TimelineLimits,
  TimelineMark,
  TimelineRequest,
  TimelineServerWrite,
} from "./timeline/contract.ts";

/** Options of a server for tests. The store is always in memory, and nothing is written to disk. */
export interface TestServerOptions extends Partial<Omit<ServerOptions, "storage" | "dataDir" | "etcd">>, KitOptions {}

/**
 * Starts a server for tests in this process: in memory, on a free port of 127.0.0.1.
 * @throws Error when an option is not valid
 *
 * @example
 * ```ts
 * import { startTestServer } from "coxswain/testing";
 *
 * const server = await startTestServer();
 * console.log(new URL(server.url).hostname); // 127.0.0.1
 * await server.close();
 * ```
 */
export function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { timeline, control, ...server } = options;
  return openTestServer(server, { ...(timeline && { timeline }), ...(control !== undefined && { control }) });
}

/**
 * Starts a server with any options of `startServer`, which clients that may use the paths under `/testing/` can control:
 * its faults make requests fail. It is what `coxswain serve --enable-test-control` starts, and not for production.
 * @throws Error when an option is not valid, the port is taken, or the data directory is in use by another server
 *
 * @example
 * ```ts
 * import { startControlledServer } from "coxswain/testing";
 *
 * const server = await startControlledServer({ storage: "memory" });
 * console.log(server.timeline.entries().length); // 0
 * await server.close();
 * ```
 */
export function startControlledServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  return openTestServer(options, { control: true });
}

async function openTestServer(some: Partial<ServerOptions>, kitOptions: KitOptions): Promise<TestServer> {
  const options = { ...defaultOptions, logger: silentLogger, ...some };
  const kit = openKit(options, kitOptions);
  const { openServer } = await import("../server.ts");
  const { running } = await openServer(options, { requests: kit.extension });
  kit.started();
  return {
    ...running,
    get servingCertificate() {
      return running.servingCertificate;
    },
    timeline: kit.timeline,
  };
}
