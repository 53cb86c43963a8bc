import { createHash, timingSafeEqual } from "node:crypto";

/** Compares two secrets in a time that does not depend on their content or length. */
export function isSameSecret(one: Uint8Array, other: Uint8Array): boolean {
  return timingSafeEqual(hashOf(one), hashOf(other));
}

function hashOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
