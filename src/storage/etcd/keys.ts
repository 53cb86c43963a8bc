/** Keys of the contract as keys of etcd. Source: `--etcd-prefix` of kube-apiserver. */
import { trimOf } from "../../lib/text/trim.ts";

/** The prefix of all keys of the contract. */
const contractRoot = "/registry";

/** A range of keys, as in etcd's API. */
export interface KeyRange {
  readonly key: Buffer;
  readonly rangeEnd: Buffer;
}

/** Converts keys of the contract to keys of etcd and back. */
export interface Keys {
  toEtcd(key: string): Buffer;
  /** As `toEtcd`, as text. */
  pathOf(key: string): string;
  fromEtcd(key: Buffer): string;
  /** The range of all keys with the prefix. */
  rangeOf(prefix: string): KeyRange;
}

/** @param prefix replaces `/registry`; a leading slash is added */
export function keysWithPrefix(prefix: string): Keys {
  const root = `/${trimOf(prefix, "/")}`;
  const pathOf = (key: string): string =>
    root !== contractRoot && key.startsWith(contractRoot) ? root + key.slice(contractRoot.length) : key;
  const toEtcd = (key: string): Buffer => Buffer.from(pathOf(key));
  return {
    toEtcd,
    pathOf,
    fromEtcd(key) {
      const text = key.toString();
      return text.startsWith(root) ? contractRoot + text.slice(root.length) : text;
    },
    rangeOf(prefix) {
      const key = toEtcd(prefix);
      return { key: key.length === 0 ? Buffer.from([0]) : key, rangeEnd: endOfPrefix(key) };
    },
  };
}

/** The first key after all keys with the prefix; a zero byte if there is none, as in etcd's API. */
export function endOfPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let at = end.length - 1; at >= 0; at--) {
    if ((end[at] as number) === 0xff) continue;
    end[at] = (end[at] as number) + 1;
    return end.subarray(0, at + 1);
  }
  return Buffer.from([0]);
}

/** The first key after the key. */
export function afterKey(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.from([0])]);
}

/** Whether the key is in the range; an end of one zero byte is that of all keys. */
export function isIn({ key: first, rangeEnd: end }: KeyRange, key: Buffer): boolean {
  return key.compare(first) >= 0 && ((end.length === 1 && end[0] === 0) || key.compare(end) < 0);
}
