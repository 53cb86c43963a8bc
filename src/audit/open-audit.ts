/** Opens the audit backends from the options. */

import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import type { RecordOwnWrite } from "../request/audit.ts";
import { webhookClient } from "../webhook/client.ts";
import type { CallObserver, WebhookClient } from "../webhook/contract.ts";
import { readWebhookKubeconfig } from "../webhook/kubeconfig-file.ts";
import { unionSink } from "./backend-sink.ts";
import { messageOf } from "./batch-queue.ts";
import type { AuditCounts, AuditLogOptions, AuditOptions, AuditSink } from "./contract.ts";
import { type AuditFilters, auditFilters } from "./filter.ts";
import { type LineWriter, logSink } from "./log-sink.ts";
import { checkAuditOptions } from "./options.ts";
import { ownWriteRecorder } from "./own-writes.ts";
import { type AuditPolicy, policyEvaluator } from "./policy.ts";
import { parseAuditPolicy } from "./policy-file.ts";
import { RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";
import { webhookSink } from "./webhook-sink.ts";

/** Auditing of a server: its filters and counters. */
export interface OpenAudit {
  readonly counts: AuditCounts;
  /** Undefined without a policy or without a backend. */
  readonly filters: AuditFilters | undefined;
  /** Records writes of controllers. Undefined as the filters. */
  readonly recordOwn: RecordOwnWrite | undefined;
  /** Resolves when all received events are written or lost. */
  close(): Promise<void>;
}

/** The dependencies of auditing. */
interface AuditDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Notified of each call of the webhook. */
  readonly calls?: CallObserver;
}

/**
 * Reads the policy and opens the backends.
 *
 * @throws Error when an option, the policy, the log file or the kubeconfig of the webhook is
 *   invalid
 */
export async function openAudit(options: AuditOptions, dependencies: AuditDependencies): Promise<OpenAudit> {
  const { clock, logger } = dependencies;
  checkAuditOptions(options);
  const { policyFile } = options;
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const policy =
    policyFile === undefined
      ? undefined
      : parseAuditPolicy(await readPolicy(policyFile), policyFile, (message) => logger.warn(message));
  const sinks = await openSinks(options, policy !== undefined, { ...dependencies, counts });
  if (policy === undefined || sinks.length === 0)
    return { counts, filters: undefined, recordOwn: undefined, close: async () => {} };
  const sink = unionSink(sinks);
  const recording = { sink, counts, clock, logger };
  const evaluate = countingEvaluator(policy, counts);
  return {
    counts,
    filters: auditFilters(evaluate, recording),
    recordOwn: ownWriteRecorder(evaluate, recording),
    close: () => sink.close(),
  };
}

/** Evaluates a policy, and counts the levels. */
function countingEvaluator(policy: AuditPolicy, { levels }: AuditCounts): ReturnType<typeof policyEvaluator> {
  const evaluate = policyEvaluator(policy);
  return (attributes) => {
    const config = evaluate(attributes);
    levels.set(config.level, (levels.get(config.level) ?? 0) + 1);
    return config;
  };
}

/**
 * As upstream, opens the log file also without a policy, so that a wrong path is an error; nothing
 * is written to it.
 */
async function openSinks(
  { log, webhook }: AuditOptions,
  hasPolicy: boolean,
  dependencies: AuditDependencies & { counts: AuditCounts },
): Promise<AuditSink[]> {
  const client =
    webhook.configFile === undefined || !hasPolicy ? undefined : await openClient(webhook.configFile, dependencies);
  const writer = log.path === undefined ? undefined : openWriter(log, log.path, dependencies);
  if (!hasPolicy) {
    await writer?.close();
    for (const [name, isConfigured] of Object.entries({
      log: writer !== undefined,
      webhook: webhook.configFile !== undefined,
    }))
      if (isConfigured)
        dependencies.logger.info(`No audit policy file provided, no events will be recorded for ${name} backend`);
    return [];
  }
  return [
    ...(writer === undefined ? [] : [logSink(writer, log, dependencies)]),
    ...(client === undefined ? [] : [webhookSink(client, webhook, dependencies)]),
  ];
}

/** Response bodies are discarded; up to 64 responses arrive at the same time. */
const answerBytesMax = 1 << 20;

/** The client connects for its first post. */
async function openClient(configFile: string, { clock, logger, calls }: AuditDependencies): Promise<WebhookClient> {
  try {
    const endpoint = await readWebhookKubeconfig(configFile, { purpose: "audit", logger });
    return webhookClient(endpoint, { clock, userAgent: "kube-apiserver", answerBytesMax, calls });
  } catch (error) {
    throw new Error(`initializing audit webhook: ${messageOf(error)}`);
  }
}

async function readPolicy(path: string): Promise<Buffer> {
  try {
    return await readGiven(path);
  } catch (error) {
    throw new Error(`loading audit policy file: failed to read file path ${quoteGo(path)}: ${messageOf(error)}`);
  }
}

function openWriter(log: AuditLogOptions, path: string, { clock, logger }: AuditDependencies): LineWriter {
  if (path === "-") return standardOutput(clock);
  return new RotatingFile({
    path,
    bytesMax: log.maxSizeMib * 1024 * 1024,
    backupsMax: log.maxBackups,
    ageMsMax: log.maxAgeDays * 86_400_000,
    compress: log.compress,
    clock,
    logger,
  });
}
