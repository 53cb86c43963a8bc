/**
 * The provider secretbox: XSalsa20 and Poly1305. Loaded only with a configuration that names it.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/secretbox/secretbox.go; NaCl, "Secret-key authenticated
 * encryption".
 */
import { randomFillSync } from "node:crypto";
import { xsalsa20poly1305 } from "@noble/ciphers/salsa.js";
import { tooShort } from "./aes.ts";
import type { ValueCipher } from "./contract.ts";

const nonceBytes = 24;
const tagBytes = 16;
const nothing = Buffer.alloc(0);

/** A nonce, the tag, the encrypted value. @param key 32 bytes */
export function secretboxCipher(key: Buffer): ValueCipher {
  return {
    seal(plain, _context, { lead = nothing } = {}) {
      const nonce = randomFillSync(Buffer.allocUnsafe(nonceBytes));
      return Buffer.concat([lead, nonce, xsalsa20poly1305(key, nonce).encrypt(plain)]);
    },
    open(data) {
      if (data.length < nonceBytes + tagBytes) throw new Error(tooShort);
      return { plain: decrypt(key, data), isStale: false };
    },
  };
}

/** @throws Error with the text of upstream, which names another reason */
function decrypt(key: Buffer, data: Buffer): Buffer {
  try {
    const plain = xsalsa20poly1305(key, data.subarray(0, nonceBytes)).decrypt(data.subarray(nonceBytes));
    return Buffer.from(plain.buffer, plain.byteOffset, plain.length);
  } catch (cause) {
    throw new Error("output array was not large enough for encryption", { cause });
  }
}
