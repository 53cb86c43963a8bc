/** Decrypts values that an engine has returned. */
import type { Stored } from "../contract.ts";
import type { Encryption, KeyEncryption } from "./contract.ts";

/** A commit needs a key that is not present. */
export class KeyNeeded extends Error {
  /** The value to decrypt; undefined when a value is to be encrypted. */
  readonly stored: Stored | undefined;

  constructor(stored?: Stored) {
    super("the key of the value is not present");
    this.stored = stored;
  }
}

/** The values before their encryption, by the buffers that running commits of this process write. */
const own = new Map<Buffer, Buffer>();

/** Lets {@link opened} return the value of a running commit without decrypting it: its events have the same buffer. */
export function keepPlain(sealed: Buffer, plain: Buffer): void {
  own.set(sealed, plain);
}

/** Ends {@link keepPlain}. */
export function forgetPlain(sealed: Buffer): void {
  own.delete(sealed);
}

/** Whether {@link opened} has the key. */
export function isReady({ key, value, damage }: Stored, encryption: Encryption): boolean {
  if (damage !== undefined || own.has(value)) return true;
  return encryption.of(key)?.cipher.remote?.has(value) ?? true;
}

/** @throws KeyNeeded when {@link opened} does not have the key */
export function checkReady(stored: Stored, encryption: Encryption): void {
  if (!isReady(stored, encryption)) throw new KeyNeeded(stored);
}

/** Fetches the key of a value. When that fails, {@link opened} has the reason. */
export async function prepare({ key, value }: Stored, encryption: Encryption): Promise<void> {
  await encryption.of(key)?.cipher.remote?.fetch(value);
}

/**
 * Returns the state with the decrypted value; with the reason when it cannot be decrypted.
 * @param isShared whether a seal says that the engine has returned a value of this process before its encryption
 */
export function opened<One extends Stored>(stored: One, encryption: Encryption, isShared: boolean): One {
  const { key, value, damage, seal } = stored;
  if (damage !== undefined || (isShared && seal !== undefined)) return stored;
  const plain = own.get(value);
  if (plain !== undefined) return { ...stored, value: plain };
  const found = encryption.of(key);
  if (found === undefined) return stored;
  try {
    const { plain, isStale } = found.cipher.open(value, found.context);
    return isStale ? { ...stored, value: plain, isStale } : { ...stored, value: plain };
  } catch (error) {
    return { ...stored, unreadable: (error as Error).message };
  }
}

/** Encrypts a value with a new key, if the cipher needs one. @throws Error with upstream's reason */
export async function sealed(plain: Buffer, { cipher, context }: KeyEncryption): Promise<Buffer> {
  return cipher.seal(plain, context, { key: await cipher.newKey?.(context) });
}
