/**
 * Opens the encryption of a file, and follows the file when it changes.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/encryptionconfig/controller/controller.go.
 */
import { statSync } from "node:fs";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ReloadObserver } from "../../apimachinery/reload-observer.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { fileProblem, readGiven } from "../../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../../lib/watched-file/watched-file.ts";
import { readEncryptionConfiguration } from "./configuration.ts";
import type { Encryption } from "./contract.ts";
import { checkServices, type EncryptionOptions, type OpenedEncryption, openEncryption } from "./open-encryption.ts";

interface FollowOptions extends EncryptionOptions {
  readonly file: string;
  /** Whether the file is read again when it changes. */
  readonly reloads: boolean;
  readonly observer: EncryptionOptions["observer"];
  readonly reloadObserver: ReloadObserver;
}

/** The encryption of a file: of its newest content that could be used. */
export interface FollowedEncryption extends Encryption {
  /** The services of the present configuration. */
  services(): OpenedEncryption["services"];
  /** Checks them all. @returns the problems */
  check(): Promise<string | undefined>;
  close(): void;
}

/** How long a replaced configuration can still be in use at least. */
const closeAfterMinMs = 10_000;

/** @throws Error when the file cannot be read, or ConfigurationError with upstream's message */
export async function followEncryption(options: FollowOptions): Promise<FollowedEncryption> {
  const { file, reloads, reloadObserver, clock, logger } = options;
  const content = await readContent(file);
  warnOfReaders(file, logger);
  let current = await openEncryption(readEncryptionConfiguration(content, options), options);
  const retired = new Set<OpenedEncryption>();
  const listeners: (() => void)[] = [];
  let closed = false;
  let pending: Promise<void> = Promise.resolve();
  reloadObserver.started(content);

  const apply = async (found: Buffer): Promise<void> => {
    const next = await openEncryption(readEncryptionConfiguration(found, options), options);
    const problem = await checkServices(next);
    if (problem !== undefined || closed) {
      next.close();
      if (problem !== undefined) throw new Error(problem);
      return;
    }
    retire(current, retired, clock);
    current = next;
    for (const changed of listeners) changed();
    logger.info("Loaded new encryption config content");
    reloadObserver.succeeded(found);
  };
  const fail = (error: unknown): void => {
    const reason = fileProblem(error, file) ?? (error as Error).message;
    logger.error("Cannot use the changed encryption provider configuration", { file, error: reason });
    reloadObserver.failed();
  };
  const watched = reloads
    ? watchFile(file, {
        known: content,
        after: realClock(clock).after,
        onContent(found) {
          pending = pending.then(() => apply(found)).catch(fail);
        },
        onError: fail,
      })
    : undefined;
  return {
    of: (key) => current.of(key),
    onChange: (changed) => void listeners.push(changed),
    services: () => current.services,
    check: () => checkServices(current),
    close() {
      closed = true;
      watched?.close();
      for (const one of [current, ...retired]) one.close();
    },
  };
}

/** @throws Error with upstream's message when the file cannot be read */
async function readContent(file: string): Promise<Buffer> {
  try {
    return await readGiven(file);
  } catch (error) {
    const why = `error reading encryption provider configuration file ${quoteGo(file)}: ${(error as Error).message}`;
    throw new Error(`error while parsing file: error while loading file: ${why}`, { cause: error });
  }
}

/** Modes of files that other users can read or write. Windows has none. */
const others = 0o077;

function warnOfReaders(file: string, logger: Logger): void {
  const mode = statSync(file).mode & 0o777;
  if (process.platform === "win32" || (mode & others) === 0) return;
  logger.warn("Other users have access to the keys in the encryption provider configuration", {
    file,
    mode: mode.toString(8).padStart(4, "0"),
  });
}

/** Requests in progress may still use its services. */
function retire(old: OpenedEncryption, retired: Set<OpenedEncryption>, clock: Clock): void {
  retired.add(old);
  realClock(clock).after(Math.max(closeAfterMinMs, old.closeAfterMs), () => {
    retired.delete(old);
    old.close();
  });
}
