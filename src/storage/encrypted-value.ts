/**
 * Values that kube-apiserver has encrypted. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/identity/identity.go`.
 */

/** A stored value that is encrypted, so that it can be neither read nor replaced here. */
export class EncryptedValue extends Error {
  constructor() {
    super("identity transformer tried to read encrypted data");
    this.name = "EncryptedValue";
  }
}

/** The start of encrypted values; that of protobuf differs in the fourth byte. */
const prefix = Buffer.from("k8s:enc:");

/** @throws EncryptedValue */
export function checkNotEncrypted(value: Buffer): void {
  if (value.subarray(0, prefix.length).equals(prefix)) throw new EncryptedValue();
}
