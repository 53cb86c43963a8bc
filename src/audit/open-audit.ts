/** Auditing as the options say. */
import { readFile } from "node:fs/promises";
import type { Clock } from "../api/clock.ts";
import type { Logger } from "../api/logger.ts";
import type { AuditCounts, AuditLogOptions, AuditOptions } from "./contract.ts";
import { type AuditFilters, auditFilters } from "./filter.ts";
import { logSink, standardOutput } from "./log-sink.ts";
import { checkAuditOptions } from "./options.ts";
import { policyEvaluator } from "./policy.ts";
import { parseAuditPolicy } from "./policy-file.ts";
import { RotatingFile } from "./rotating-file.ts";

export interface OpenAudit {
  readonly counts: AuditCounts;
  /** Undefined when nothing is audited: without a policy, and without anywhere to write to. */
  readonly filters: AuditFilters | undefined;
  /** Resolves when what was taken is written. */
  close(): Promise<void>;
}

/** @throws Error when an option, the policy or the log's file is not right */
export async function openAudit(options: AuditOptions, { clock, logger }: { clock: Clock; logger: Logger }): Promise<OpenAudit> {
  checkAuditOptions(options);
  const { policyFile, log } = options;
  const counts: AuditCounts = { events: 0, rejected: 0, levels: new Map(), errors: new Map() };
  const nothing = { counts, filters: undefined, close: async () => {} };
  const policy = policyFile === undefined ? undefined : parseAuditPolicy(await readPolicy(policyFile), policyFile, (message) => logger.warn(message));
  if (log.path === undefined) return nothing;
  const writer = log.path === "-" ? standardOutput() : openFile(log, log.path, { clock, logger });
  if (policy === undefined) {
    logger.info("No audit policy file provided, no events will be recorded for log backend");
    await writer.close();
    return nothing;
  }
  const sink = logSink(writer, log, { counts, clock, logger });
  return { counts, filters: auditFilters(policyEvaluator(policy), { sink, counts, clock }), close: () => sink.close() };
}

async function readPolicy(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`loading audit policy file: failed to read file path ${JSON.stringify(path)}: ${(error as Error).message}`);
  }
}

function openFile(log: AuditLogOptions, path: string, { clock, logger }: { clock: Clock; logger: Logger }): RotatingFile {
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
