/** What the tests of storage engines share: options, writes, events as text, delayed writes. */
import { systemClock } from "../../src/apimachinery/clock.ts";
import type { LogEvent, LogSubscriber, Storage, Write } from "../../src/storage/contract.ts";
import type { StorageFaults, StorageOptions } from "../../src/storage/options.ts";

/** Options that keep all history. */
export const suiteOptions: StorageOptions = {
  clock: systemClock,
  historyMs: 300_000,
  historyBytesMax: 1 << 30,
  valueBytesMax: 1000,
};

/** A store under test. */
export interface Opened {
  readonly storage: Storage;
  /**
   * Closes the store and opens it again with other options; undefined when the engine does not
   * persist data.
   */
  readonly reopen: ((options: StorageOptions) => Promise<Storage>) | undefined;
}

/** @returns a write of a text */
export const put = (key: string, text: string): Write => ({ key, value: Buffer.from(text) });
/** @returns a deletion */
export const remove = (key: string): Write => ({ key, value: null });
/** Waits for one turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
/** A subscriber without effects. */
export const ignored: LogSubscriber = { events() {}, progress() {}, end() {} };
/** @returns an event as one line, with the state before it */
export const show = ({ type, key, revision, previousRevision, value, previous }: LogEvent): string => {
  const before = previous?.();
  return `${type} ${key}@${revision}=${value} was ${before === undefined ? "absent" : `${before.value}@${before.revision}`}/${previousRevision}`;
};

/** Injects delays and failures into writes. */
export interface Gate extends StorageFaults {
  /**
   * Blocks all further writes.
   * @returns a function that releases them, or fails them with the error
   */
  hold(): (error?: Error) => void;
}

/** @returns a gate that is open */
export function gate(): Gate {
  let held: Promise<void> | undefined;
  return {
    beforeWrite: () => held,
    hold() {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      held = promise;
      return (error) => {
        held = undefined;
        if (error === undefined) resolve();
        else reject(error);
      };
    },
  };
}

/** Opens an empty store of the engine under test. */
export type Open = (options: StorageOptions) => Promise<Opened>;

/** @returns the values below a prefix as `key=value` */
export async function listed(storage: Storage, prefix: string, revision?: number): Promise<string[]> {
  return (await storage.range(prefix, { revision })).entries.map(({ key, value }) => `${key}=${value}`);
}
