/**
 * The providers aesgcm and aescbc.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/aes/aes.go.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from "node:crypto";
import type { ValueCipher } from "./contract.ts";

const nonceBytes = 12;
const tagBytes = 16;
const blockBytes = 16;
export const tooShort = "the stored data was shorter than the required size";

/** AES-GCM: a nonce, the encrypted value, the tag. The value is bound to its key in the store. */
export function gcmCipher(secret: Buffer): ValueCipher {
  const key = createSecretKey(secret);
  const newNonce = nonces();
  return {
    seal: (plain, { key: path }, { lead } = {}) => sealGcm(key, plain, path, { lead, nonce: newNonce() }),
    open: (data, { key: path }) => ({ plain: openGcm(key, data, path), isStale: false }),
  };
}

const noncesMade = 512;

/** Makes many nonces at once, each of which is used once: to ask for a single one takes longer than to encrypt with it. */
function nonces(): () => Buffer {
  const made = Buffer.allocUnsafeSlow(noncesMade * nonceBytes);
  let used = made.length;
  return () => {
    if (used === made.length) {
      randomFillSync(made);
      used = 0;
    }
    used += nonceBytes;
    return made.subarray(used - nonceBytes, used);
  };
}

/** @param options `lead`: bytes that the result begins with; `nonce`: a random one by default */
export function sealGcm(
  key: KeyObject,
  plain: Buffer,
  path: string,
  { lead = nothing, nonce = randomBytes(nonceBytes) }: { readonly lead?: Buffer | undefined; readonly nonce?: Buffer },
): Buffer {
  const start = lead.length + nonceBytes;
  const sealed = Buffer.allocUnsafe(start + plain.length + tagBytes);
  sealed.set(lead);
  sealed.set(nonce, lead.length);
  const cipher = createCipheriv(gcmName(key), key, nonce);
  cipher.setAAD(Buffer.from(path));
  sealed.set(cipher.update(plain), start);
  cipher.final();
  sealed.set(cipher.getAuthTag(), start + plain.length);
  return sealed;
}

const nothing = Buffer.alloc(0);

/** @throws Error when the data was changed, or is that of another key */
export function openGcm(key: KeyObject, data: Buffer, path: string): Buffer {
  if (data.length < nonceBytes) throw new Error(tooShort);
  const end = data.length - tagBytes;
  if (end < nonceBytes) throw new Error(notAuthentic);
  const decipher = createDecipheriv(gcmName(key), key, data.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(path));
  decipher.setAuthTag(data.subarray(end));
  const plain = decipher.update(data.subarray(nonceBytes, end));
  try {
    decipher.final();
  } catch {
    throw new Error(notAuthentic); // Node's only reason to throw here.
  }
  return plain;
}

const notAuthentic = "cipher: message authentication failed";
const gcmName = ({ symmetricKeySize = 0 }: KeyObject) => `aes-${symmetricKeySize * 8}-gcm` as "aes-256-gcm";

/** AES-CBC with the padding of PKCS #7: an initialization vector, the encrypted value. It is not authenticated. */
export function cbcCipher(key: Buffer): ValueCipher {
  const name = `aes-${key.length * 8}-cbc`;
  return {
    seal(plain, _context, { lead = nothing } = {}) {
      const vector = randomFillSync(Buffer.allocUnsafe(blockBytes));
      const cipher = createCipheriv(name, key, vector);
      return Buffer.concat([lead, vector, cipher.update(plain), cipher.final()]);
    },
    open(data) {
      if (data.length < blockBytes) throw new Error(tooShort);
      if (data.length % blockBytes !== 0) throw new Error("the stored data is not a multiple of the block size");
      if (data.length === blockBytes) throw new Error(unpadded);
      const decipher = createDecipheriv(name, key, data.subarray(0, blockBytes));
      decipher.setAutoPadding(false);
      const padded = Buffer.concat([decipher.update(data.subarray(blockBytes)), decipher.final()]);
      return { plain: withoutPadding(padded), isStale: false };
    },
  };
}

const unpadded = "invalid PKCS7 data (empty or not padded)";

/** @throws Error */
function withoutPadding(padded: Buffer): Buffer {
  const size = padded.at(-1) as number;
  if (size === 0 || size > padded.length) throw new Error(unpadded);
  const end = padded.length - size;
  if (padded.subarray(end).some((byte) => byte !== size)) throw new Error("invalid padding on input");
  return padded.subarray(0, end);
}
