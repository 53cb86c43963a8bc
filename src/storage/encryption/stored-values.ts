/** Decrypts values that an engine has returned. */
import type { Stored } from "../contract.ts";
import type { Encryption } from "./contract.ts";

/** A derived write needs the key of a value, which is not present. */
export class KeyNeeded extends Error {
  readonly stored: Stored;

  constructor(stored: Stored) {
    super("the key of the value is not present");
    this.stored = stored;
  }
}

/** The value before its encryption, in a buffer that a commit of this process writes. */
const before = Symbol("before");
interface OwnValue extends Buffer {
  [before]?: Buffer | undefined;
}

/** Lets {@link opened} return the value of a running commit without decrypting it: its events have the same buffer. */
export function keepPlain(sealed: Buffer, plain: Buffer | undefined): void {
  (sealed as OwnValue)[before] = plain;
}

/** Whether {@link opened} has the key. */
export function isReady({ key, value, damage }: Stored, encryption: Encryption): boolean {
  if (damage !== undefined || (value as OwnValue)[before] !== undefined) return true;
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
  const own = (value as OwnValue)[before];
  if (own !== undefined) return { ...stored, value: own };
  const found = encryption.of(key);
  if (found === undefined) return stored;
  try {
    const { plain, isStale } = found.cipher.open(value, found.context);
    return isStale ? { ...stored, value: plain, isStale } : { ...stored, value: plain };
  } catch (error) {
    return { ...stored, unreadable: (error as Error).message };
  }
}
