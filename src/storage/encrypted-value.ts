/**
 * Values that kube-apiserver has encrypted. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/identity/identity.go`.
 */

/** A stored value that is encrypted, so that it can be neither read nor replaced here. */
export class EncryptedValue extends Error {
  constructor(reason = "identity transformer tried to read encrypted data") {
    super(reason);
    this.name = "EncryptedValue";
  }
}

/** The start of encrypted values; that of protobuf differs in the fourth byte. */
const prefix = Buffer.from("k8s:enc:");

/** @throws EncryptedValue */
export function checkNotEncrypted(value: Buffer): void {
  if (isEncrypted(value)) throw new EncryptedValue();
}

export function isEncrypted(value: Buffer): boolean {
  return value.length >= prefix.length && value.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}
