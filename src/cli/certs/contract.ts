/** The files that servers over one store share, and those of their etcd, named as kubeadm names them. */

/** The authorities that sign certificates, by the names of their files. */
export type Authority = "ca" | "front-proxy-ca" | "etcd-ca";

/** What has a private key, and a file with the public keys that are accepted: authorities, and the key of service account tokens. */
export interface KeySet {
  /** The name of its files: `ca.key`, `ca-next.key`, `ca.crt`. */
  readonly name: Authority | "sa";
  /** The file with what is accepted: certificates of authorities, or public keys. */
  readonly accepted: string;
  readonly what: string;
}

/** All {@link KeySet}s. */
export const keySets = [
  { name: "ca", accepted: "ca.crt", what: "the authority of servers and clients" },
  { name: "front-proxy-ca", accepted: "front-proxy-ca.crt", what: "the authority of front proxies" },
  { name: "etcd-ca", accepted: "etcd-ca.crt", what: "the authority of etcd" },
  { name: "sa", accepted: "sa.pub", what: "the key of service account tokens" },
] as const satisfies readonly KeySet[];

/** A certificate of an authority of a {@link KeySet}. */
export interface Leaf {
  /** The name of its files: `apiserver.crt`, `apiserver.key`. */
  readonly name: string;
  readonly authority: Authority;
  readonly usage: "server" | "client" | "both";
  /** Whose names it has; client certificates have none. */
  readonly names?: "servers" | "members";
  readonly subject: { readonly commonName: string; readonly organizations?: readonly string[] };
  /** Whether its file ends with the authorities: pods get the file as `kube-root-ca.crt`. */
  readonly hasAuthorities: boolean;
}

/** All certificates that servers share. */
export const leaves: readonly Leaf[] = [
  {
    name: "apiserver",
    authority: "ca",
    usage: "server",
    names: "servers",
    subject: { commonName: "kube-apiserver" },
    hasAuthorities: true,
  },
  {
    name: "admin",
    authority: "ca",
    usage: "client",
    subject: { commonName: "kubernetes-admin", organizations: ["system:masters"] },
    hasAuthorities: false,
  },
  {
    name: "front-proxy-client",
    authority: "front-proxy-ca",
    usage: "client",
    subject: { commonName: "front-proxy-client" },
    hasAuthorities: false,
  },
];

/** The certificates of an etcd cluster, whose authority is optional. */
export const etcdLeaves: readonly Leaf[] = [
  {
    name: "etcd-server",
    authority: "etcd-ca",
    usage: "both", // etcd connects to itself with the certificate that it serves.
    names: "members",
    subject: { commonName: "etcd" },
    hasAuthorities: false,
  },
  {
    name: "etcd-peer",
    authority: "etcd-ca",
    usage: "both",
    names: "members",
    subject: { commonName: "etcd" },
    hasAuthorities: false,
  },
  {
    name: "apiserver-etcd-client",
    authority: "etcd-ca",
    usage: "client",
    subject: { commonName: "kube-apiserver-etcd-client" },
    hasAuthorities: false,
  },
];

/** By which programs of one machine reach a server or a member of etcd. */
export const localNames = ["localhost", "127.0.0.1", "::1"];

/** The kubeconfig of the administrator. */
export const adminKubeconfig = "admin.kubeconfig";

/** A file that was written or removed, and why. */
export interface Change {
  readonly file: string;
  readonly change: string;
}

/** A day. */
export const dayMs = 24 * 3600_000;
/** How long authorities are valid. */
export const authorityDays = 3650;
/** How long other certificates are valid. */
export const leafDays = 365;
/** A certificate that expires sooner is renewed, or reported. */
export const soonDays = 30;
/** Certificates are valid from a day before, for clients whose clock is late. */
export const earlierMs = dayMs;
