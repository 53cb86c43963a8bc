/**
 * A store whose values are encrypted before they reach its engine, and decrypted after it. Everything below has
 * encrypted values alone: the log, the history, snapshots, backups and copies.
 */
import { isDerived } from "../check-writes.ts";
import type {
  Check,
  Committed,
  Conflict,
  DerivedWrite,
  KeyChange,
  LogSubscriber,
  Range,
  RangeOptions,
  Storage,
  Stored,
  Subscription,
  Write,
} from "../contract.ts";
import { type Encryption, EncryptionFailed, type ValueCipher, type ValueKey } from "./contract.ts";
import { DecryptedLog } from "./decrypted-log.ts";
import { checkReady, forgetPlain, isReady, KeyNeeded, keepPlain, opened, prepare } from "./stored-values.ts";

/** Attempts of a commit that needs keys of another process. */
const attemptsMax = 10;

/** The keys for the values of a commit, by the keys of the store. */
type NewKeys = Map<string, { readonly cipher: ValueCipher; readonly valueKey: ValueKey }>;
const noKeys: NewKeys = new Map();

/** What a commit encrypts its values with. */
interface Sealing {
  readonly keys: NewKeys;
  /** Receives the buffers whose values must be forgotten after the commit. */
  readonly own: Buffer[];
}

/** @param encryption decides about each key when it is read or written */
export function encryptStorage(inner: Storage, encryption: Encryption): Storage {
  return new EncryptedStorage(inner, encryption);
}

class EncryptedStorage implements Storage {
  readonly isShared: boolean;
  readonly changedKeys?: NonNullable<Storage["changedKeys"]>;
  readonly #inner: Storage;
  readonly #encryption: Encryption;
  #keyChange: KeyChange | undefined;

  constructor(inner: Storage, encryption: Encryption) {
    this.#inner = inner;
    this.#encryption = encryption;
    encryption.onChange?.(() => this.#keysChanged());
    this.isShared = inner.isShared;
    if (inner.changedKeys !== undefined) this.changedKeys = inner.changedKeys.bind(inner);
  }

  get reportsProgress(): boolean {
    return this.#inner.reportsProgress;
  }

  encrypts(key: string): boolean {
    return this.#encryption.of(key) !== undefined;
  }

  keyChange(): KeyChange | undefined {
    return this.#keyChange;
  }

  /** Until the revision is known, it is every one. */
  #keysChanged(): void {
    const change = { until: Number.POSITIVE_INFINITY };
    this.#keyChange = change;
    this.#inner.current().then(
      (until) => {
        if (this.#keyChange === change) this.#keyChange = { until };
      },
      () => {}, // The store cannot be read now.
    );
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    const stored = await this.#inner.get(key, revision);
    return stored && (await this.#read(stored));
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<Range> {
    const range = await this.#inner.range(prefix, options);
    if (options.keysOnly === true) return range;
    const entries: Stored[] = [];
    for (const stored of range.entries) {
      if (!isReady(stored, this.#encryption)) await prepare(stored, this.#encryption);
      entries.push(this.#opened(stored));
    }
    return { ...range, entries };
  }

  count(prefix: string): Promise<number> {
    return this.#inner.count(prefix);
  }

  /** @throws EncryptionFailed when a value cannot be encrypted, and the errors of the engine */
  async commit(checks: readonly Check[], writes: readonly (Write | DerivedWrite)[]): Promise<Committed | Conflict> {
    // A commit that needs a key which is not present is repeated.
    for (let attempt = 1; ; attempt++) {
      const own: Buffer[] = [];
      try {
        const keys = this.#needsKeys(writes) ? await this.#newKeys(writes) : noKeys;
        const sealing: Sealing = { keys, own };
        const outcome = await this.#inner.commit(
          checks,
          writes.map((write) => (isDerived(write) ? this.#derived(write, sealing) : this.#sealed(write, sealing))),
        );
        if (outcome.ok || outcome.current === undefined) return outcome;
        return { ...outcome, current: await this.#read(outcome.current) };
      } catch (error) {
        if (!(error instanceof KeyNeeded) || attempt === attemptsMax) throw error;
        if (error.stored !== undefined) await prepare(error.stored, this.#encryption);
      } finally {
        for (const value of own) forgetPlain(value);
      }
    }
  }

  log(prefix: string, from: number, subscriber: LogSubscriber): Subscription {
    const log = new DecryptedLog(subscriber, this.#encryption, this.isShared);
    return log.follow(this.#inner.log(prefix, from, log));
  }

  compact(revision: number): Promise<void> {
    return this.#inner.compact(revision);
  }

  checkReadable(): Promise<void> {
    return this.#inner.checkReadable();
  }

  checkWritable(): Promise<void> {
    return this.#inner.checkWritable();
  }

  current(): Promise<number> {
    return this.#inner.current();
  }

  compacted(): number {
    return this.#inner.compacted();
  }

  sizeBytes(): Promise<number> {
    return this.#inner.sizeBytes();
  }

  pin(): ReturnType<Storage["pin"]> {
    return this.#inner.pin();
  }

  stopWaiting(): void {
    this.#inner.stopWaiting?.();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #read(stored: Stored): Promise<Stored> {
    if (!isReady(stored, this.#encryption)) await prepare(stored, this.#encryption);
    return this.#opened(stored);
  }

  #opened(stored: Stored): Stored {
    return opened(stored, this.#encryption, this.isShared);
  }

  #needsKeys(writes: readonly (Write | DerivedWrite)[]): boolean {
    return writes.some(({ key }) => this.#encryption.of(key)?.cipher.newKey !== undefined);
  }

  /** @throws EncryptionFailed */
  async #newKeys(writes: readonly (Write | DerivedWrite)[]): Promise<NewKeys> {
    const keys: NewKeys = new Map();
    const make = async ({ key }: Write | DerivedWrite): Promise<void> => {
      const found = this.#encryption.of(key);
      if (found?.cipher.newKey === undefined) return;
      keys.set(key, { cipher: found.cipher, valueKey: await found.cipher.newKey(found.context) });
    };
    try {
      await Promise.all(writes.map(make));
      return keys;
    } catch (cause) {
      throw new EncryptionFailed((cause as Error).message, { cause });
    }
  }

  #derived({ key, derive }: DerivedWrite, sealing: Sealing): DerivedWrite {
    return {
      key,
      derive: (newest) => {
        if (newest !== undefined) checkReady(newest, this.#encryption);
        const value = derive(newest && this.#opened(newest));
        return value && this.#sealed({ key, ...value }, sealing);
      },
    };
  }

  /** An engine that other servers share stores `shared`, and keeps the value of its own writes as it is. */
  #sealed<One extends Write>(write: One, { keys, own }: Sealing): One {
    const { key, value, shared } = write;
    const found = value === null ? undefined : this.#encryption.of(key);
    if (found === undefined || value === null) return write;
    const { cipher, context } = found;
    const made = keys.get(key);
    // The configuration may have changed since the keys were made.
    if (cipher.newKey !== undefined && made?.cipher !== cipher) throw new KeyNeeded();
    try {
      if (this.isShared) return { ...write, shared: cipher.seal(shared ?? value, context, { key: made?.valueKey }) };
      const sealed = cipher.seal(value, context, { key: made?.valueKey });
      if (sealed !== value) {
        keepPlain(sealed, value);
        own.push(sealed);
      }
      return { ...write, value: sealed };
    } catch (cause) {
      throw new EncryptionFailed((cause as Error).message, { cause });
    }
  }
}
