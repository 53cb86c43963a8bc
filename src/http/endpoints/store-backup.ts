/**
 * `POST /storage/backup`: the response is a backup of the store. Clients name no file, and none is
 * written.
 */
import type { Readable } from "node:stream";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import { internalError, methodNotAllowed, tooManyRequests } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { answerHeaders } from "../../request/answer.ts";
import type { PathHandler, RequestState } from "../../request/context.ts";
import type { BodyStream } from "../../request/exchange.ts";

/** A backup in progress. */
export interface RunningBackup {
  readonly output: Readable;
  /** @throws Error with the reason why the backup is incomplete */
  readonly finished: Promise<unknown>;
  /** Stops the backup; has no effect after its end. */
  stop(): void;
}

/** Options of the handler. */
interface StoreBackupOptions {
  start(): Promise<RunningBackup>;
  /** Bytes of the store. */
  sizeBytes(): Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * During a backup the store's file only grows, so that slow clients are disconnected: at this rate
 * for the size of the store, and after this time at least.
 */
const bytesPerSecondMin = 1 << 20;
const timeMinMs = 60_000;
const retryAfterSeconds = 10;

/** Creates the handler, which allows one backup at a time and throws ApiError 405, 429, 500. */
export function storeBackupHandler({ start, sizeBytes, clock, logger }: StoreBackupOptions): PathHandler {
  let isRunning = false;
  return async (context) => {
    if (context.exchange.method !== "POST") throw methodNotAllowed();
    if (isRunning) throw tooManyRequests("a backup is in progress already", retryAfterSeconds);
    isRunning = true;
    try {
      await answer(context);
    } finally {
      isRunning = false;
    }
  };

  async function answer(context: RequestState): Promise<void> {
    const { exchange } = context;
    const timeMs = Math.max(timeMinMs, ((await sizeBytes()) / bytesPerSecondMin) * 1000);
    const backup = await start();
    if (exchange.closed) return backup.stop();
    exchange.onClose(backup.stop);
    let body: BodyStream | undefined;
    const cancel = realClock(clock).after(timeMs, () => {
      backup.stop();
      body?.abort();
    });
    try {
      for await (const piece of backup.output as AsyncIterable<Buffer>) {
        body ??= exchange.stream(200, headersOf(context));
        if (!body.write(piece)) await body.drained();
      }
      await backup.finished;
      body?.end();
    } catch (error) {
      const wasLeft = exchange.closed;
      body?.abort();
      if (wasLeft) return;
      logger.error("Backup failed", { error: error instanceof Error ? error.message : String(error) });
      if (body === undefined) throw internalError("the backup failed; the reason is in the server's log");
    } finally {
      cancel();
      backup.stop();
    }
  }
}

function headersOf(context: RequestState): ReturnType<typeof answerHeaders> {
  return {
    ...answerHeaders(context, "application/octet-stream"),
    "content-disposition": 'attachment; filename="store.backup"',
    "x-content-type-options": "nosniff",
  };
}
