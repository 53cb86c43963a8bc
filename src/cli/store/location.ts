/** Where a store is: a data directory, or a prefix of a cluster of etcd. */
import { systemClock } from "../../apimachinery/clock.ts";
import { trimEndOf } from "../../lib/text/trim.ts";
import type { EtcdPlace } from "../../storage/copy/etcd-source.ts";
import type { EtcdTls } from "../../storage/etcd/api/endpoints.ts";
import { etcdDefaults } from "../../storage/etcd/options.ts";

/** A parsed location. */
export type StoreLocation =
  | { readonly engine: "lmdb"; readonly dataDir: string }
  | { readonly engine: "etcd"; readonly place: EtcdPlace };

const fileNames: Readonly<Record<string, keyof EtcdTls>> = {
  cafile: "caFile",
  certfile: "certFile",
  keyfile: "keyFile",
};

/**
 * Parses `etcd://host:port[,host:port][/prefix][?cafile=…&certfile=…&keyfile=…]`, the same with
 * `http` or `https`, `lmdb:DIRECTORY`, or a directory. With `etcd`, TLS is used when there is a file.
 *
 * @param tls the files that the text does not name
 * @throws Error when it is not valid
 */
export function parseLocation(text: string, tls: EtcdTls = {}): StoreLocation {
  const url = /^(etcd|https?):\/\/([^/?]+)(\/[^?]*)?(?:\?(.*))?$/.exec(text);
  if (url === null) return { engine: "lmdb", dataDir: directoryOf(text) };
  const [, scheme, hosts = "", path = "", query = ""] = url;
  const files = { ...tls, ...filesOf(query, text) };
  if ((files.certFile === undefined) !== (files.keyFile === undefined))
    throw new Error("a certificate for etcd needs both certfile and keyfile");
  const isSecure = scheme === "https" || (scheme === "etcd" && Object.keys(files).length > 0);
  const servers = hosts.split(",").map((host) => serverOf(host, isSecure));
  const prefix = trimEndOf(decodeURIComponent(path), "/") || etcdDefaults.prefix;
  return { engine: "etcd", place: { servers, prefix, tls: files, clock: systemClock } };
}

function serverOf(host: string, isSecure: boolean): string {
  if (!/^(?:[\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}$/.test(host))
    throw new Error(`an etcd server is host:port, without a user: ${JSON.stringify(host.replace(/^.*@/, "…@"))}`);
  return `${isSecure ? "https" : "http"}://${host}`;
}

function directoryOf(text: string): string {
  const directory = text.startsWith("lmdb:") ? text.slice("lmdb:".length).replace(/^\/\/(?=\/)/, "") : text;
  if (directory === "" || /^[a-z]+:\/\//.test(directory))
    throw new Error(`${JSON.stringify(text)} is neither a directory nor a URL with etcd, http or https`);
  return directory;
}

function filesOf(query: string, text: string): EtcdTls {
  const files: Partial<Record<keyof EtcdTls, string>> = {};
  for (const [name, value] of new URLSearchParams(query)) {
    const file = fileNames[name];
    if (file === undefined || value === "") throw new Error(`invalid parameter ${JSON.stringify(name)} in ${text}`);
    files[file] = value;
  }
  return files;
}

/** Names a location without the files. */
export function describeLocation(location: StoreLocation): string {
  if (location.engine === "lmdb") return location.dataDir;
  const { servers, prefix } = location.place;
  return `${servers.join(",")}/${prefix.replace(/^\/+/, "")}`;
}
