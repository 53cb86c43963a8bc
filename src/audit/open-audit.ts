/** Auditing as the options say. */
import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import { webhookClient } from "../webhook/client.ts";
import type { CallObserver, WebhookClient } from "../webhook/contract.ts";
import { readWebhookKubeconfig } from "../webhook/kubeconfig-file.ts";
import { unionSink } from "./backend-sink.ts";
import { messageOf } from "./batch-queue.ts";
import type { AuditCounts, AuditLogOptions, AuditOptions, AuditSink } from "./contract.ts";
import { type AuditFilters, auditFilters } from "./filter.ts";
import { type LineWriter, logSink } from "./log-sink.ts";
import { checkAuditOptions } from "./options.ts";
import { policyEvaluator } from "./policy.ts";
import { parseAuditPolicy } from "./policy-file.ts";
import { RotatingFile } from "./rotating-file.ts";
import { standardOutput } from "./standard-output.ts";
import { webhookSink } from "./webhook-sink.ts";

export interface OpenAudit {
  readonly counts: AuditCounts;
  /** Undefined when nothing is audited: without a policy, and without anywhere to write to. */
  readonly filters: AuditFilters | undefined;
  /** Resolves when what was taken is written. */
  close(): Promise<void>;
}

/** What a server's audit needs. */
export interface AuditNeeds {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of what is posted. */
  readonly calls?: CallObserver;
}

/** @throws Error when an option, the policy, the log's file or the webhook's is not right */
export async function openAudit(options: AuditOptions, needs: AuditNeeds): Promise<OpenAudit> {
  const { clock, logger } = needs;
  checkAuditOptions(options);
  const { policyFile } = options;
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const policy =
    policyFile === undefined
      ? undefined
      : parseAuditPolicy(await readPolicy(policyFile), policyFile, (message) => logger.warn(message));
  const sinks = await openSinks(options, policy !== undefined, { ...needs, counts });
  if (policy === undefined || sinks.length === 0) return { counts, filters: undefined, close: async () => {} };
  const sink = unionSink(sinks);
  return {
    counts,
    filters: auditFilters(policyEvaluator(policy), { sink, counts, clock, logger }),
    close: () => sink.close(),
  };
}

/** Without a policy the log's file is opened all the same, as upstream does, so that a wrong path is told; nothing is written to it. */
async function openSinks(
  { log, webhook }: AuditOptions,
  hasPolicy: boolean,
  needs: AuditNeeds & { counts: AuditCounts },
): Promise<AuditSink[]> {
  const client =
    webhook.configFile === undefined || !hasPolicy ? undefined : await openClient(webhook.configFile, needs);
  const writer = log.path === undefined ? undefined : openWriter(log, log.path, needs);
  if (!hasPolicy) {
    await writer?.close();
    for (const [name, isAskedFor] of Object.entries({
      log: writer !== undefined,
      webhook: webhook.configFile !== undefined,
    }))
      if (isAskedFor)
        needs.logger.info(`No audit policy file provided, no events will be recorded for ${name} backend`);
    return [];
  }
  return [
    ...(writer === undefined ? [] : [logSink(writer, log, needs)]),
    ...(client === undefined ? [] : [webhookSink(client, webhook, needs)]),
  ];
}

/** What a webhook answers is not looked at; some 64 answers may come at a time. */
const answerBytesMax = 1 << 20;

/** It connects when there is something to post. */
async function openClient(configFile: string, { clock, logger, calls }: AuditNeeds): Promise<WebhookClient> {
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
    throw new Error(`loading audit policy file: failed to read file path ${JSON.stringify(path)}: ${messageOf(error)}`);
  }
}

function openWriter(log: AuditLogOptions, path: string, { clock, logger }: AuditNeeds): LineWriter {
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
