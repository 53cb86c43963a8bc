/**
 * The test kit: servers in the process of a test. Start with `useTestServer`, or with `startTestServer`.
 *
 * @packageDocumentation
 */

// The blank line above keeps the comment in the declarations, which do not need the first import.
import { keepCompiledModules } from "../apimachinery/compile-cache.ts";
import type { ServerOptions } from "../server/options.ts";
import type { ServerFixture, Snapshot, TestRunner, TestServer } from "./contract.ts";
import { fixtureOf } from "./fixtures.ts";
import { type Opener, rememberServer } from "./open-servers.ts";
import { isTestRunner } from "./runner-limit.ts";
import type { TestServerOptions } from "./servers.ts";
import { toolsOf } from "./tools.ts";

export type { WebhookReview } from "../request/webhook-review.ts";
export type * from "../server/public-types.ts";
export {
  type AppliedByOptions,
  appliedBy,
  type Condition,
  type FieldManagerLike,
  hasCondition,
  type ObjectLike,
  type OwnerLike,
  ownedBy,
} from "./assertions.ts";
export type * from "./contract.ts";
export { type EventuallyOptions, eventually } from "./eventually.ts";
export { FaultRuleError } from "./faults/check-rule.ts";
export type {
  ConflictFault,
  CutConnectionFault,
  CutWatchFault,
  Fault,
  FaultHandle,
  FaultRule,
  Faults,
  GoneFault,
  InternalErrorFault,
  LatencyFault,
  MissingBookmarkFault,
  StaleReadFault,
  StallWatchFault,
  TextMatch,
  TimeoutFault,
  TooManyRequestsFault,
} from "./faults/contract.ts";
export type { Installation, InstalledObject, InstallOptions, InstallSource } from "./install/contract.ts";
export { ManifestError } from "./install/manifest-error.ts";
export type { KitOptions } from "./kit.ts";
export { type NoFurtherWritesOptions, noFurtherWrites } from "./no-further-writes.ts";
export {
  type BuiltObject,
  configMap,
  customResourceDefinition,
  type Defaults,
  type DefinitionDefaults,
  type DeploymentDefaults,
  deployment,
  type JobDefaults,
  job,
  namespace,
  object,
  type PodDefaults,
  pod,
  type ServiceDefaults,
  secret,
  service,
  serviceAccount,
} from "./objects.ts";
export type { TestServerOptions } from "./servers.ts";
export { type StableOptions, stable } from "./stable.ts";
export type {
  ChangedField,
  Timeline,
  TimelineChange,
  TimelineClock,
  TimelineEntry,
  TimelineEntryBase,
  TimelineFault,
  TimelineLimits,
  TimelineMark,
  TimelineRequest,
  TimelineReview,
  TimelineServerWrite,
} from "./timeline/contract.ts";
export {
  type AdvanceOptions,
  EndlessTimersError,
  type VirtualClock,
  type VirtualClockOptions,
  virtualClock,
} from "./virtual-clock.ts";
export type * from "./webhooks/contract.ts";
export { WebhookSpecError } from "./webhooks/webhook-spec-error.ts";

/**
 * Starts a server for tests in this process: in memory, on a free port of 127.0.0.1.
 *
 * All its controllers run, as those of a cluster do: namespaces get the ServiceAccount `default` and the ConfigMap
 * `kube-root-ca.crt`, deleted namespaces disappear with their content, and so do objects whose owners are deleted.
 * Nothing is logged.
 *
 * @throws Error when an option is not valid
 *
 * @example
 * ```ts
 * import { startTestServer } from "coxswain/testing";
 *
 * const server = await startTestServer();
 * const response = await server.fetch("/api/v1/namespaces/default");
 * console.log(response.status, (await response.json()).status.phase); // 200 Active
 * await server.close();
 * ```
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const opener: Opener = {};
  Error.captureStackTrace(opener, startTestServer);
  const server = await startUnreferenced(options);
  rememberServer(server, "server", opener);
  return server;
}

/** In a test runner, a server does not hold the process, so that a forgotten one does not make it hang. */
async function startUnreferenced(options: TestServerOptions): Promise<TestServer> {
  const { startServer } = await loadServers();
  const server = await startServer(options);
  if (isTestRunner()) toolsOf(server).unref();
  return server;
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
export async function startControlledServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const { openTestServer } = await loadServers();
  return openTestServer(options, { control: true });
}

/**
 * Reads a snapshot that `Snapshot.save` has written, also in another process.
 * @throws Error when the file is damaged or incomplete, is not a snapshot, or one of a newer version
 */
export async function loadSnapshot(file: string): Promise<Snapshot> {
  const { readSnapshot } = await loadServers();
  return readSnapshot(file);
}

/** Loads the server and what only its users need. */
function loadServers(): Promise<typeof import("./servers.ts")> {
  keepCompiledModules();
  return import("./servers.ts");
}

/** Options of {@link useTestServer}. */
export interface FixtureOptions extends TestServerOptions {
  /** Prepares the server before the first test, for example by creating definitions. */
  readonly setup?: (server: TestServer) => unknown;
}

/**
 * Starts a server before the tests of a file, and closes it after them. For every test runner: the hooks of the file are
 * those of the runner that is passed.
 *
 * @param runner the module of the runner, such as `import * as runner from "node:test"` (or from "vitest", "@jest/globals",
 *   "bun:test"), `Deno.test`, or an object with its hooks
 * @param options of the server, and what to do when it has started
 * @returns the server, and what belongs to one test of it. When node:test or Vitest report a failed test, its timeline is
 *   printed
 */
export function useTestServer(runner: TestRunner, options: FixtureOptions = {}): ServerFixture {
  const { setup, ...serverOptions } = options;
  return fixtureOf(runner, { start: () => startUnreferenced(serverOptions), setup });
}
