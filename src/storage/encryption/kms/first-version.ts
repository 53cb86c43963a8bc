/**
 * The provider kms of version 1: a service encrypts a new key for each value.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/envelope.go and
 * pkg/server/options/encryptionconfig/config.go.
 */
import { createSecretKey, randomBytes } from "node:crypto";
import type { Clock } from "../../../apimachinery/clock.ts";
import { joinErrors } from "../../../lib/json/quote.ts";
import { cbcCipher, openGcm, sealGcm } from "../aes.ts";
import type {
  EncryptionObserver,
  OpenedValue,
  RemoteKeys,
  SealOptions,
  ValueCipher,
  ValueContext,
  ValueKey,
} from "../contract.ts";
import type { FirstKmsClient } from "./first-client.ts";
import { type CheckResult, HealthCheck } from "./health-check.ts";
import { KeyCache, keysMinimum } from "./key-cache.ts";

const keyBytes = 32;
const lengthBytes = 2;
const encryptedKeyBytesMax = 0xffff;
const nothing = Buffer.alloc(0);

interface FirstKmsOptions {
  readonly name: string;
  readonly client: FirstKmsClient;
  /** How many keys are kept; negative for none, which are {@link keysMinimum} here. */
  readonly cacheSize: number;
  readonly clock: Clock;
  readonly observer: EncryptionObserver;
}

/** A service, and the cipher of its values. */
export class FirstKmsProvider implements ValueCipher {
  readonly remote: RemoteKeys;
  readonly #options: FirstKmsOptions;
  readonly #keys: KeyCache<Buffer>;
  readonly #health: HealthCheck;

  constructor(options: FirstKmsOptions) {
    const { cacheSize, observer } = options;
    this.#options = options;
    this.#health = new HealthCheck(options.clock, () => this.#checkNow());
    this.#keys = new KeyCache(Math.max(cacheSize, keysMinimum), (size) => {
      if (cacheSize > 0) observer.keysFilled(Math.min(size / cacheSize, 1));
    });
    this.remote = {
      has: (data) => {
        const envelope = envelopeOf(data);
        return envelope === undefined || this.#keys.get(idOf(envelope.encryptedKey)) !== undefined;
      },
      fetch: (data) => this.#fetch(data),
    };
  }

  async newKey(): Promise<ValueKey> {
    const { client, observer } = this.#options;
    const requestedAt = performance.now();
    const secret = randomBytes(keyBytes);
    observer.keyGenerated((performance.now() - requestedAt) / 1000);
    const encrypted = await client.encrypt(secret);
    if (encrypted.length > encryptedKeyBytesMax)
      throw new Error(`cryptobyte: pending child length ${encrypted.length} exceeds ${lengthBytes}-byte length prefix`);
    return { secret, encrypted, requestedAt };
  }

  seal(plain: Buffer, { key: path }: ValueContext, { key, lead = nothing }: SealOptions = {}): Buffer {
    if (key === undefined) throw new Error("the key of the value was not requested");
    const { secret, encrypted } = key;
    this.#options.observer.arrived("to_storage");
    this.#keys.set(idOf(encrypted), secret);
    const length = Buffer.allocUnsafe(lengthBytes);
    length.writeUInt16BE(encrypted.length);
    return sealGcm(createSecretKey(secret), plain, path, { lead: Buffer.concat([lead, length, encrypted]) });
  }

  open(data: Buffer, { key: path }: ValueContext): OpenedValue {
    this.#options.observer.arrived("from_storage");
    const envelope = envelopeOf(data);
    if (envelope === undefined)
      throw new Error("invalid data encountered by envelope transformer: failed to read uint16 length prefixed data");
    const id = idOf(envelope.encryptedKey);
    const secret = this.#keys.get(id);
    if (secret === undefined) throw this.#keys.failure(id);
    return openValue(secret, envelope.encryptedValue, path);
  }

  /** Encrypts and decrypts unless that was done a moment ago. @returns the problem, with upstream's text */
  check(): Promise<string | undefined> {
    return this.#health.run();
  }

  close(): void {
    this.#options.client.close();
  }

  async #checkNow(): Promise<CheckResult> {
    const { client, name } = this.#options;
    let section = "encrypt";
    try {
      const encrypted = await client.encrypt(Buffer.from("ping"));
      section = "decrypt";
      await client.decrypt(encrypted);
      return { problem: undefined, remembered: undefined };
    } catch (error) {
      const { message } = error as Error;
      const problem = `failed to perform ${section} section of the healthz check for KMS Provider ${name}, error: ${message}`;
      return { problem, remembered: message };
    }
  }

  /** A failure is thrown by `open`. */
  async #fetch(data: Buffer): Promise<void> {
    const envelope = envelopeOf(data);
    if (envelope === undefined) return;
    const id = idOf(envelope.encryptedKey);
    if (this.#keys.get(id) !== undefined) return;
    const { client, observer, cacheSize } = this.#options;
    if (cacheSize > 0) observer.keyMissed();
    await this.#keys.load(id, async () => checkedKey(await client.decrypt(envelope.encryptedKey)));
  }
}

interface Envelope {
  readonly encryptedKey: Buffer;
  readonly encryptedValue: Buffer;
}

/** @returns undefined for bytes that `open` rejects */
function envelopeOf(data: Buffer): Envelope | undefined {
  if (data.length < lengthBytes) return undefined;
  const end = lengthBytes + data.readUInt16BE();
  if (data.length < end) return undefined;
  return { encryptedKey: data.subarray(lengthBytes, end), encryptedValue: data.subarray(end) };
}

function idOf(encryptedKey: Buffer): string {
  return encryptedKey.toString("base64");
}

/** @throws Error when the service has decrypted something else than a key */
function checkedKey(secret: Buffer): Buffer {
  if (![16, 24, 32].includes(secret.length)) throw new Error(`crypto/aes: invalid key size ${secret.length}`);
  return secret;
}

/** Kubernetes before 1.25 stored values with AES-CBC. @throws Error */
function openValue(secret: Buffer, data: Buffer, path: string): OpenedValue {
  try {
    return { plain: openGcm(createSecretKey(secret), data, path), isStale: false };
  } catch (gcmError) {
    try {
      return { plain: cbcCipher(secret).open(data, { key: path, resource: "" }).plain, isStale: true };
    } catch (cbcError) {
      throw new Error(joinErrors([gcmError, cbcError].map((error) => (error as Error).message)));
    }
  }
}
