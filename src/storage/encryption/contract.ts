/**
 * The encryption of stored values. The bytes are those of kube-apiserver.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/transformer.go.
 */

/** What a value belongs to. */
export interface ValueContext {
  /** The key in the store, to which most ciphers bind the value, so that it cannot be moved to another key. */
  readonly key: string;
  /** For metrics, such as `secrets` or `deployments.apps`. */
  readonly resource: string;
}

/** A value that was decrypted. */
export interface OpenedValue {
  readonly plain: Buffer;
  /** Whether the value would be stored otherwise today, with another key or provider. */
  readonly isStale: boolean;
}

/** The key of one value, which another process has encrypted. */
export interface ValueKey {
  readonly secret: Buffer;
  /** Stored with the value. */
  readonly encrypted: Buffer;
  /** A time of `performance.now`. */
  readonly requestedAt: number;
}

/** How a value is encrypted. */
export interface SealOptions {
  /** Of `newKey`, if the cipher has it. */
  readonly key?: ValueKey | undefined;
  /** Bytes that the result begins with. */
  readonly lead?: Buffer | undefined;
}

/** Encrypts and decrypts values without waiting. */
export interface ValueCipher {
  /** @throws Error when there is no key that may be used */
  seal(plain: Buffer, context: ValueContext, options?: SealOptions): Buffer;
  /** Makes the key of a value, if each value needs one of another process. @throws Error with upstream's reason */
  newKey?(context: ValueContext): Promise<ValueKey>;
  /**
   * Decrypts a value whose key is present, see {@link RemoteKeys.has}.
   * @throws Error with upstream's reason when that is not possible
   */
  open(data: Buffer, context: ValueContext): OpenedValue;
  /** Absent when all keys are present. */
  readonly remote?: RemoteKeys;
}

/** Keys that another process decrypts. */
export interface RemoteKeys {
  /** Whether the key of the value is present. */
  has(data: Buffer): boolean;
  /** Fetches the key of the value. Does not reject: `open` throws the reason of a failure. */
  fetch(data: Buffer): Promise<void>;
}

/** The direction of a transformation, as metrics name it. */
export type Direction = "from_storage" | "to_storage";

/** Receives what encryption does, for metrics. */
export interface EncryptionObserver {
  /** @param code `OK`, or the name of a status of gRPC, or `unknown-non-grpc` */
  transformed(resource: string, direction: Direction, prefix: string, seconds: number, code: string): void;
  /** Reports a key that was not present. */
  keyMissed(): void;
  /** Reports a new key for values. @param seconds undefined when it could not be made */
  keyGenerated(seconds: number | undefined): void;
  /** Reports a call of a key management service. */
  called(provider: string, method: string, code: string, seconds: number): void;
  /** Reports the use of a key of the service. */
  keyUsed(direction: Direction, provider: string, keyId: string): void;
  /** Reports the key that the service names as the one for new values. */
  keyNamed(provider: string, keyId: string): void;
  /** Reports an id of a key that is `empty` or `too_long`. */
  keyRejected(provider: string, code: string): void;
  /** Reports how many keys are present. */
  keysPresent(provider: string, keys: number): void;
  /** Reports a value of a service of version 1. */
  arrived(direction: Direction): void;
  /** Reports how much of the cache of keys of such a service is in use. @param fraction 0 to 1 */
  keysFilled(fraction: number): void;
}

/** How the values of a key are encrypted. */
export interface KeyEncryption {
  readonly cipher: ValueCipher;
  readonly context: ValueContext;
}

/** Decides how the values of keys are encrypted. */
export interface Encryption {
  /** @returns undefined for a key whose values are not encrypted */
  of(key: string): KeyEncryption | undefined;
  /** Reports that other keys are in use now. Absent when keys do not change. */
  onChange?(changed: () => void): void;
}

/** A value could not be encrypted, so that nothing was written. The message is upstream's. */
export class EncryptionFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "EncryptionFailed";
  }
}
