/** Keys of a prefix of etcd as those of the storage contract. */
import { StorageUnavailable } from "../contract.ts";
import { afterKey, endOfPrefix, keysWithPrefix } from "../etcd/keys.ts";
import { objectsPrefix } from "./contract.ts";

/** The range of the objects, and its keys. */
export interface CopiedKeys {
  /** The first key after `after`, or of the range. */
  first(after?: string): Buffer;
  /** The first key after `until`, or after the range. */
  end(until?: string): Buffer;
  toEtcd(key: string): Buffer;
  /** @throws StorageUnavailable when the key is not in the range, or not UTF-8 */
  fromEtcd(key: Buffer): string;
}

/** @param prefix as in `--etcd-prefix` */
export function copiedKeys(prefix: string): CopiedKeys {
  const { toEtcd, fromEtcd } = keysWithPrefix(prefix);
  const root = toEtcd(objectsPrefix);
  return {
    first: (after) => (after === undefined ? root : afterKey(toEtcd(after))),
    end: (until) => (until === undefined ? endOfPrefix(root) : afterKey(toEtcd(until))),
    toEtcd,
    fromEtcd(key) {
      const text = fromEtcd(key);
      if (!text.startsWith(objectsPrefix) || !toEtcd(text).equals(key))
        throw new StorageUnavailable(`etcd has a key that is no key of an object: ${JSON.stringify(key.toString())}`);
      return text;
    },
  };
}
