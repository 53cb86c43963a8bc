/** Lines that wait to be written, so that no request does. Source: upstream's plugin/pkg/audit/buffered. */
import type { Clock } from "../api/clock.ts";
import type { BatchOptions } from "./contract.ts";

export interface BatchQueue {
  /** Takes a line, or drops and counts it when the queue is full. */
  add(line: string): void;
  /** Resolves when everything that waits is written, or could not be. */
  close(): Promise<void>;
}

export interface BatchQueueOptions extends BatchOptions {
  readonly clock: Clock;
  lost(plugin: string, why: string, events: number): void;
}

/** Characters that may wait, beside the number of events, which says nothing of their size. */
const charactersMax = 64 << 20;
/** Batches without a throttle are handed to the system together, up to so many characters at a time. */
const writeCharacters = 1 << 20;

export function batchQueue(writer: { write(text: string): Promise<void> }, options: BatchQueueOptions): BatchQueue {
  const { bufferSize, maxSize, maxWaitMs, clock, lost } = options;
  const throttle = options.throttleEnable ? tokenBucket(options.throttleQps, options.throttleBurst, clock) : undefined;
  let lines: string[] = [];
  let characters = 0;
  let writing: Promise<void> | undefined;
  let due = false;
  let closing = false;
  let cancelTimer: (() => void) | undefined;
  const closed = Promise.withResolvers<void>();

  function takeBatch(): string[] {
    let count = 0;
    let size = 0;
    const most = throttle === undefined ? lines.length : maxSize;
    while (count < most && count < lines.length && size < writeCharacters) size += (lines[count++] as string).length;
    const batch = lines.slice(0, count);
    lines = lines.slice(count);
    characters -= size;
    return batch;
  }

  async function writeAll(): Promise<void> {
    while (lines.length >= maxSize || (lines.length > 0 && (due || closing))) {
      if (throttle !== undefined && !closing) await Promise.race([throttle(), closed.promise]);
      const batch = takeBatch();
      try {
        await writer.write(batch.join(""));
      } catch (error) {
        lost("log", String(error), batch.length);
      }
    }
    due = false;
  }

  function wake(): void {
    if (writing !== undefined) return;
    if (lines.length < maxSize && !closing && !due) {
      cancelTimer ??= clock.after(maxWaitMs, () => {
        cancelTimer = undefined;
        due = true;
        wake();
      });
      return;
    }
    writing = writeAll().finally(() => {
      writing = undefined;
      if (lines.length > 0) wake();
    });
  }

  return {
    add(line) {
      if (closing) return lost("buffered", "audit backend shut down", 1);
      if (lines.length >= bufferSize || characters + line.length > charactersMax) return lost("buffered", "audit buffer queue blocked", 1);
      lines.push(line);
      characters += line.length;
      wake();
    },
    async close() {
      closing = true;
      closed.resolve(); // The throttle holds up nothing any more.
      cancelTimer?.();
      while (lines.length > 0 || writing !== undefined) {
        wake();
        await writing;
      }
    },
  };
}

/** @returns waits for the next token */
function tokenBucket(perSecond: number, burst: number, clock: Clock): () => Promise<void> {
  let tokens = burst;
  let filledAt = clock.now();
  return async () => {
    const fill = (): void => {
      tokens = Math.min(burst, tokens + ((clock.now() - filledAt) / 1000) * perSecond);
      filledAt = clock.now();
    };
    for (fill(); tokens < 1; fill()) await new Promise<void>((resolve) => clock.after(Math.ceil(((1 - tokens) / perSecond) * 1000), resolve));
    tokens -= 1;
  };
}
