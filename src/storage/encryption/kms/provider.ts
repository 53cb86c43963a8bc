/**
 * The provider kms of version 2: a service encrypts a seed, from which this process derives a key for each value.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/kmsv2/envelope.go and
 * pkg/server/options/encryptionconfig/config.go; KEP-3299.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import { type Clock, formatTime } from "../../../apimachinery/clock.ts";
import type { Logger } from "../../../apimachinery/logger.ts";
import { activeSpan, type Span, slowMs } from "../../../apimachinery/spans.ts";
import { CallError } from "../../../lib/grpc/socket-client.ts";
import { joinErrors, quoteGo } from "../../../lib/json/quote.ts";
import type {
  EncryptionObserver,
  OpenedValue,
  RemoteKeys,
  SealOptions,
  ValueCipher,
  ValueContext,
} from "../contract.ts";
import type { KmsClient } from "./client.ts";
import {
  checkSource,
  type DataKey,
  type KeySource,
  keyIdProblem,
  openWithKey,
  readObject,
  sealWithSeed,
  seedBytes,
  sourceId,
  writeObject,
} from "./encrypted-object.ts";
import { type CheckResult, HealthCheck } from "./health-check.ts";
import { KeyCache, keysMinimum } from "./key-cache.ts";
import { type StatusResponse, sourceTypes } from "./messages.ts";

const healthyIntervalMs = 60_000;
const failedIntervalMs = 10_000;
/** How long values may be encrypted after the last successful check. */
const writableMs = 180_000;
const versions = ["v2", "v2beta1"];

interface KmsProviderOptions {
  readonly name: string;
  readonly client: KmsClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: EncryptionObserver;
}

/** The seed for new values. */
interface CurrentSeed {
  readonly source: KeySource;
  readonly key: DataKey;
  readonly id: string;
  readonly expiresAt: number;
}

/** A service that is checked at intervals, and the cipher of its values. */
export class KmsProvider implements ValueCipher {
  readonly remote: RemoteKeys;
  readonly #options: KmsProviderOptions;
  readonly #keys: KeyCache<DataKey>;
  readonly #health: HealthCheck;
  #current: CurrentSeed | undefined;
  #version = "";
  #cancel = (): void => {};
  #closed = false;

  constructor(options: KmsProviderOptions) {
    this.#options = options;
    this.#health = new HealthCheck(options.clock, () => this.#checkNow());
    this.#keys = new KeyCache(keysMinimum, (size) => options.observer.keysPresent(options.name, size));
    this.remote = {
      has: (data) => {
        const source = sourceOf(data);
        return source === undefined || this.#keys.get(sourceId(source)) !== undefined;
      },
      fetch: (data) => this.#fetch(data),
    };
  }

  /** Checks the service, and again and again. A service that fails now may be there later. */
  async start(): Promise<void> {
    const problem = await this.check();
    this.#schedule(problem);
  }

  #schedule(problem: string | undefined): void {
    if (this.#closed) return;
    const { clock, logger, name } = this.#options;
    if (problem !== undefined) logger.error("kms plugin failed health check probe", { name, error: problem });
    this.#cancel = clock.after(problem === undefined ? healthyIntervalMs : failedIntervalMs, async () =>
      this.#schedule(await this.check()),
    );
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.#options.client.close();
  }

  /** Checks the service unless that was done a moment ago. @returns the problem, with upstream's text */
  check(): Promise<string | undefined> {
    return this.#health.run();
  }

  seal(plain: Buffer, { key }: ValueContext, { lead }: SealOptions = {}): Buffer {
    const current = this.#current;
    const { clock, name, observer } = this.#options;
    if (current === undefined) throw new Error("got unexpected nil transformer");
    const now = clock.now();
    if (now > current.expiresAt)
      throw new Error(
        `encryptedDEKSource with keyID hash ${quoteGo(hashOf(current.source.keyId))} expired at ${formatTime(current.expiresAt)} (current time is ${formatTime(now)})`,
      );
    this.#keys.set(current.id, current.key);
    observer.keyUsed("to_storage", name, current.source.keyId);
    const span = this.#startSpan("TransformToStorage");
    span?.addEvent("About to encrypt data using DEK");
    const encryptedData = sealWithSeed(current.key.secret, randomBytes(seedBytes), plain, key);
    span?.addEvent("Data encryption succeeded");
    span?.addEvent("About to encode encrypted object");
    const object = writeObject({ ...current.source, encryptedData });
    span?.addEvent("Encoded encrypted object");
    span?.end(slowMs);
    return lead === undefined ? object : Buffer.concat([lead, object]);
  }

  /** Values are encrypted and decrypted at once, so that a failure, too, ends with the request's span. */
  #startSpan(direction: "TransformToStorage" | "TransformFromStorage"): Span | undefined {
    const attributes = { "transformer.provider.name": this.#options.name };
    return activeSpan()?.start(`${direction} with envelopeTransformer`, attributes);
  }

  open(data: Buffer, { key: path }: ValueContext): OpenedValue {
    const { name, observer } = this.#options;
    const span = this.#startSpan("TransformFromStorage");
    span?.addEvent("About to decode encrypted object");
    const object = readObject(data);
    span?.addEvent("Decoded encrypted object");
    const current = this.#current;
    if (current === undefined) throw new Error("got unexpected nil transformer");
    const id = sourceId(object);
    const key = this.#keys.get(id);
    if (key === undefined) throw this.#keys.failure(id);
    observer.keyUsed("from_storage", name, object.keyId);
    span?.addEvent("About to decrypt data using DEK");
    const plain = openWithKey(key, object.encryptedData, path);
    span?.addEvent("Data decryption succeeded");
    span?.end(slowMs);
    return {
      plain,
      isStale: object.keyId !== current.source.keyId || object.sourceType !== current.source.sourceType,
    };
  }

  /** A failure is thrown by `open`. */
  async #fetch(data: Buffer): Promise<void> {
    const source = sourceOf(data);
    if (source === undefined) return;
    const id = sourceId(source);
    if (this.#keys.get(id) !== undefined) return;
    const { client, observer } = this.#options;
    observer.keyMissed();
    const { encryptedSource: ciphertext, keyId, annotations = [], sourceType } = source;
    await this.#keys.load(id, async (): Promise<DataKey> => {
      try {
        const secret = await client.decrypt({ ciphertext, keyId, annotations, uid: randomUUID() });
        return { sourceType, secret: checkedSecret(sourceType, secret) };
      } catch (error) {
        throw within("failed to decrypt DEK, error", error);
      }
    });
  }

  async #checkNow(): Promise<CheckResult> {
    const { client, name } = this.#options;
    let status: StatusResponse;
    try {
      status = await client.status();
    } catch (error) {
      const { message } = error as Error;
      const problem = `failed to perform status section of the healthz check for KMS Provider ${name}, error: ${message}`;
      return { problem, remembered: message };
    }
    const problems = joinErrors([...this.#statusProblems(status), ...(await this.#followKey(status.keyId))]);
    const problem = problems === "" ? undefined : `kmsv2 Provider ${name} is not healthy, error: ${problems}`;
    return { problem, remembered: problem };
  }

  #statusProblems({ healthz, version }: StatusResponse): string[] {
    const problems = healthz === "ok" ? [] : [`got unexpected healthz status: ${healthz}`];
    if (!versions.includes(version)) return [...problems, `expected KMSv2 API version v2, got ${version}`];
    if (this.#version === "") this.#version = version;
    if (this.#version !== version)
      problems.push(
        `KMSv2 API version should not change after the initial status response version ${this.#version}, got ${version}`,
      );
    return problems;
  }

  /** Makes a new seed when the service has a new key; extends the time of the present one otherwise. */
  async #followKey(keyId: string): Promise<string[]> {
    const { name, observer, clock, client } = this.#options;
    const invalid = keyIdProblem(keyId);
    if (invalid !== undefined) {
      observer.keyRejected(name, invalid.code);
      return [`got invalid KMSv2 KeyID hash ${quoteGo(hashOf(keyId))}: ${invalid.text}`];
    }
    observer.keyNamed(name, keyId);
    const expiresAt = clock.now() + writableMs; // From before the call: a limit, not a promise.
    const before = this.#current;
    if (before?.source.keyId === keyId) {
      this.#current = { ...before, expiresAt };
      return [];
    }
    const uid = randomUUID();
    const made = await newSeed(client, uid, observer).catch((error: unknown) => error as Error);
    const madeId = made instanceof Error ? "" : made.source.keyId;
    if (!(made instanceof Error) && madeId === keyId) {
      this.#current = { ...made, expiresAt };
      return [];
    }
    const state = before === undefined ? "got unexpected nil transformer" : "<nil>";
    const why = made instanceof Error ? made.message : "<nil>";
    const until = before === undefined ? "0001-01-01T00:00:00Z" : formatTime(before.expiresAt);
    return [
      `failed to rotate DEK uid=${quoteGo(uid)}, useSeed=true, errState=${state}, errGen=${why}, statusKeyIDHash=${quoteGo(hashOf(keyId))}, encryptKeyIDHash=${quoteGo(hashOf(madeId))}, stateKeyIDHash=${quoteGo(hashOf(before?.source.keyId ?? ""))}, expirationTimestamp=${until}`,
    ];
  }
}

/** @throws Error when the service fails, or answers what cannot be stored */
async function newSeed(
  client: KmsClient,
  uid: string,
  observer: EncryptionObserver,
): Promise<Omit<CurrentSeed, "expiresAt">> {
  const startedAt = performance.now();
  const seed = randomBytes(seedBytes);
  observer.keyGenerated((performance.now() - startedAt) / 1000);
  const answer = await client.encrypt(uid, seed).catch((error: unknown) => {
    throw within("failed to encrypt DEK, error", error);
  });
  const { ciphertext: encryptedSource, keyId, annotations = [] } = answer;
  const source: KeySource = { encryptedSource, keyId, annotations, sourceType: sourceTypes.seed };
  checkSource(source);
  return { source, key: { sourceType: sourceTypes.seed, secret: seed }, id: sourceId(source) };
}

/** @returns undefined for bytes that `open` rejects */
function sourceOf(data: Buffer): KeySource | undefined {
  try {
    return readObject(data);
  } catch {
    return undefined; // `open` throws the same error.
  }
}

/** @throws Error when the service has decrypted something else than a key */
function checkedSecret(sourceType: number, secret: Buffer): Buffer {
  if (sourceType === sourceTypes.seed && secret.length < seedBytes)
    throw new Error(`invalid seed length ${secret.length} used for key generation`);
  if (sourceType === sourceTypes.key && ![16, 24, 32].includes(secret.length))
    throw new Error(`crypto/aes: invalid key size ${secret.length}`);
  return secret;
}

function within(lead: string, error: unknown): Error {
  return error instanceof CallError ? error.within(lead) : new Error((error as Error).message);
}

/** The id of a key as messages and metrics show it. */
function hashOf(keyId: string): string {
  return keyId === "" ? "" : `sha256:${createHash("sha256").update(keyId).digest("hex")}`;
}
