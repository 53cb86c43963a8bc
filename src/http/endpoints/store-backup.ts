/** `POST /storage/backup`: a backup of the store as the answer. No file is named by clients, and none is written. */
import type { Readable } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { internalError, methodNotAllowed, tooManyRequests } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { BodyStream, RequestContext } from "../contract.ts";
import { answerHeaders } from "../respond.ts";
import type { PathHandler } from "../serve.ts";

export interface RunningBackup {
  readonly output: Readable;
  /** @throws Error that says why it is not whole */
  readonly finished: Promise<unknown>;
  /** Ends it; does nothing once it has finished. */
  stop(): void;
}

export interface StoreBackupOptions {
  start(): Promise<RunningBackup>;
  /** Bytes of the store. */
  sizeBytes(): number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * As long as a backup is under way the store's file only grows, so that it may not take as long as a client likes: the store's size at this
 * rate, and at least this time.
 */
const bytesPerSecondMin = 1 << 20;
const timeMinMs = 60_000;
const retryAfterSeconds = 10;

/** One backup at a time. @throws ApiError 405, 429, 500 */
export function storeBackupHandler({ start, sizeBytes, clock, logger }: StoreBackupOptions): PathHandler {
  let isRunning = false;
  return async (context) => {
    if (context.exchange.method !== "POST") throw methodNotAllowed();
    if (isRunning) throw tooManyRequests("a backup is under way already", retryAfterSeconds);
    isRunning = true;
    try {
      await answer(context);
    } finally {
      isRunning = false;
    }
  };

  async function answer(context: RequestContext): Promise<void> {
    const { exchange } = context;
    const backup = await start();
    if (exchange.closed) return backup.stop();
    exchange.onClose(backup.stop);
    let body: BodyStream | undefined;
    const cancel = clock.after(Math.max(timeMinMs, (sizeBytes() / bytesPerSecondMin) * 1000), () => {
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
      logger.error("backup failed", { error: error instanceof Error ? error.message : String(error) });
      if (body === undefined) throw internalError("the backup failed; the server's log says why");
    } finally {
      cancel();
      backup.stop();
    }
  }
}

function headersOf(context: RequestContext): ReturnType<typeof answerHeaders> {
  return {
    ...answerHeaders(context, "application/octet-stream"),
    "content-disposition": 'attachment; filename="store.backup"',
    "x-content-type-options": "nosniff",
  };
}
