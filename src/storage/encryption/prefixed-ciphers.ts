/**
 * Chooses a cipher by the start of a value: that of its provider, and then that of its key.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/transformer.go.
 */
import { joinErrors } from "../../lib/json/quote.ts";
import { checkNotEncrypted } from "../encrypted-value.ts";
import type { Direction, EncryptionObserver, OpenedValue, RemoteKeys, ValueCipher, ValueContext } from "./contract.ts";

/** A cipher for values that begin with some bytes. */
export interface PrefixedCipher {
  /** Empty for values that are not encrypted. */
  readonly prefix: string;
  /** Receives values without the prefix. */
  readonly cipher: ValueCipher;
}

/** The provider identity, which reads only values that are not encrypted. */
export const identity: PrefixedCipher = {
  prefix: "",
  cipher: {
    seal: (plain) => plain,
    open(data) {
      checkNotEncrypted(data);
      return { plain: data, isStale: false };
    },
  },
};

/** The name by which metrics show an error: that of its status if it is one of gRPC. */
export function codeOf(error: unknown): string {
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : "unknown-non-grpc";
}

/**
 * Joins ciphers: the first one encrypts, and all of them decrypt.
 * @param unknown the error for values that no cipher accepts
 * @throws Error when there is no cipher
 */
export function prefixedCiphers(
  ciphers: readonly PrefixedCipher[],
  unknown: string,
  observer: EncryptionObserver,
): ValueCipher {
  const all = ciphers.map(({ prefix, cipher }) => ({ prefix, bytes: Buffer.from(prefix), cipher }));
  const [first] = all;
  if (first === undefined) throw new Error("at least one cipher is needed");
  const matching = (data: Buffer) => all.filter(({ bytes }) => startsWith(data, bytes));
  const remote: RemoteKeys = {
    has: (data) => matching(data).every(({ bytes, cipher }) => cipher.remote?.has(data.subarray(bytes.length)) ?? true),
    async fetch(data) {
      for (const { bytes, cipher } of matching(data)) await cipher.remote?.fetch(data.subarray(bytes.length));
    },
  };
  const newKey = keyMaker(first, observer);
  const leadOf = leadsTo(first.bytes);
  return {
    seal(plain, context, { key, lead } = {}) {
      const observed = observing(observer, context, "to_storage", key?.requestedAt);
      try {
        const sealed = first.cipher.seal(plain, context, { key, lead: leadOf(lead) });
        observed(first.prefix, "OK");
        return sealed;
      } catch (error) {
        observed(first.prefix, codeOf(error));
        throw error;
      }
    },
    open(data, context) {
      const observed = observing(observer, context, "from_storage");
      const failures: unknown[] = [];
      for (const [index, { prefix, bytes, cipher }] of all.entries()) {
        if (!startsWith(data, bytes)) continue;
        try {
          const { plain, isStale } = cipher.open(data.subarray(bytes.length), context);
          observed(prefix === "" ? "identity" : prefix, "OK");
          return { plain, isStale: isStale || index > 0 } satisfies OpenedValue;
        } catch (error) {
          // The next one may be that of an encrypted value, or another with the same prefix and other keys.
          if (prefix === "") continue;
          observed(prefix, codeOf(error));
          failures.push(error);
        }
      }
      if (failures.length === 0) observed("unknown", "unknown-non-grpc");
      throw failureOf(failures, unknown);
    },
    ...(all.some(({ cipher }) => cipher.remote !== undefined) && { remote }),
    ...(newKey !== undefined && { newKey }),
  };
}

/** @returns undefined when the cipher needs no key of another process for each value */
function keyMaker({ prefix, cipher }: PrefixedCipher, observer: EncryptionObserver): ValueCipher["newKey"] {
  if (cipher.newKey === undefined) return undefined;
  return async (context) => {
    const observed = observing(observer, context, "to_storage");
    try {
      return await (cipher as Required<ValueCipher>).newKey(context);
    } catch (error) {
      observed(prefix, codeOf(error));
      throw error;
    }
  };
}

/** @returns a function that puts the bytes after a lead, which is the same one again and again */
function leadsTo(bytes: Buffer): (lead: Buffer | undefined) => Buffer | undefined {
  const own = bytes.length === 0 ? undefined : bytes;
  let [outer, joined]: [outer?: Buffer, joined?: Buffer] = [];
  return (lead) => {
    if (lead === undefined) return own;
    if (lead !== outer) [outer, joined] = [lead, Buffer.concat([lead, bytes])];
    return joined;
  };
}

function startsWith(data: Buffer, prefix: Buffer): boolean {
  return data.length >= prefix.length && data.compare(prefix, 0, prefix.length, 0, prefix.length) === 0;
}

function observing(
  observer: EncryptionObserver,
  { resource }: ValueContext,
  direction: Direction,
  startedAt = performance.now(),
) {
  return (prefix: string, code: string): void =>
    observer.transformed(resource, direction, prefix, (performance.now() - startedAt) / 1000, code);
}

function failureOf(failures: readonly unknown[], unknown: string): Error {
  const [first, ...others] = failures as Error[];
  if (first === undefined) return new Error(unknown);
  return others.length === 0 ? first : new Error(joinErrors([first, ...others].map(({ message }) => message)));
}
