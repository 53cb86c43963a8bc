/** Builds the tracing of requests: spans for a collector by `--tracing-config-file`, and slow requests in the log. */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { apiRelease } from "../apimachinery/release.ts";
import type { SpanSource } from "../apimachinery/spans.ts";
import { isVerbose } from "../apimachinery/verbosity.ts";
import type { TracingConfiguration } from "../http/tracing/configuration.ts";
import { type RequestTracing, requestTracing } from "../http/tracing/request-tracing.ts";
import { readBoundedFile } from "../lib/bounded-file/bounded-file.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { fileProblem } from "../lib/kubeconfig/kubeconfig.ts";
import { tracingMetrics } from "../metrics/tracing-metrics.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { identityOf } from "./peers.ts";

interface TracingNeeds {
  readonly gates: FeatureGates;
  readonly metrics: ServerMetrics;
  readonly closers: Closers;
}

/**
 * Opens the tracing of a server.
 * @returns undefined for a server that neither records spans nor has lines with levels in its log
 * @throws Error with upstream's message when the configuration cannot be used
 */
export async function openServerTracing(
  options: ServerOptions,
  needs: TracingNeeds,
): Promise<RequestTracing | undefined> {
  const { tracingConfigFile: file, verbosity, clock, logger, storage } = options;
  if (file === undefined && verbosity === undefined) return undefined;
  return requestTracing({
    source: file === undefined ? undefined : await openSource(file, options, needs),
    clock,
    log: {
      clock,
      elapsed: () => performance.now(),
      isVerbose: (level) => verbosity !== undefined && isVerbose(verbosity, level, "trace"),
      write: (text) => logger.info(text),
    },
    engine: storage === "etcd" ? "etcd3" : storage,
  });
}

async function openSource(
  file: string,
  options: ServerOptions,
  { gates, metrics, closers }: TracingNeeds,
): Promise<SpanSource> {
  if (!gates.enabled("APIServerTracing"))
    throw new Error("APIServerTracing feature is not enabled, but tracing config file was provided");
  const { readTracingConfiguration, openTracing } = await import("./tracing-on-demand.ts");
  const configuration: TracingConfiguration = readTracingConfiguration(await readFile(file));
  await checkEgress(options.egressSelectorConfigFile);
  const { ended, collect } = tracingMetrics();
  metrics.add(collect);
  const { logger } = options;
  const tracing = openTracing({
    configuration,
    identity: identityOf(options),
    version: apiRelease.gitVersion,
    logger,
    ended,
  });
  closers.add(() => tracing.close());
  return tracing.spans;
}

async function readFile(file: string): Promise<Buffer> {
  try {
    return await readBoundedFile(file);
  } catch (error) {
    const problem = fileProblem(error, file) ?? String(error);
    const lead = `failed to read tracing config: unable to read tracing configuration from ${quoteGo(file)}`;
    throw new Error(`${lead}: ${problem}`, { cause: error });
  }
}

/** The collector is in the network `controlplane`. @throws Error when its connections need a proxy */
async function checkEgress(file: string | undefined): Promise<void> {
  if (file === undefined) return;
  const { readEgressSelections } = await import("../authentication/egress/configuration.ts");
  const selection = readEgressSelections(await readBoundedFile(file)).find(({ name }) => name === "controlplane");
  if (selection !== undefined && selection.connection.proxyProtocol !== "Direct")
    throw new Error("the egress selection controlplane needs a proxy, through which spans cannot be sent");
}
