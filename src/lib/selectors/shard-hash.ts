/**
 * The hash that assigns objects to shards: FNV-1a with 64 bits.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/sharding/hash.go
 */

/** The prime of FNV-1a, 2^40 + 0x1b3: its lower bits, and the shift of the upper half. */
const primeLow = 0x1b3;
const primeShift = 40 - 32;
const word = 2 ** 32;

/**
 * Hashes bytes. All products are safe integers: 32 bits times nine bits.
 * @returns an unsigned 64-bit integer
 */
export function shardHash(bytes: Uint8Array): bigint {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0;
    const product = low * primeLow;
    high = (high * primeLow + Math.floor(product / word) + ((low << primeShift) >>> 0)) % word;
    low = product % word;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}
