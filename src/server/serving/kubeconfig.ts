/** The kubeconfig of a user. Certificates are inline, so that the file can be moved. */
import type { Certificates } from "./certificates.ts";

/** A client certificate, or a token. */
type Credentials = { readonly admin: Certificates["admin"] } | { readonly token: string };

type KubeconfigContent = Credentials & {
  readonly caBundle: string;
  /** The name of its user, without control characters; the admin by default. */
  readonly user?: string;
};

/** @param url such as `https://127.0.0.1:6443` */
export function formatKubeconfig(url: string, { caBundle, user, ...credentials }: KubeconfigContent): string {
  // A string in JSON is one in YAML, too.
  const name = user === undefined ? "kubernetes-admin" : JSON.stringify(user);
  const context = user === undefined ? "kubernetes-admin@coxswain" : JSON.stringify(`${user}@coxswain`);
  return `apiVersion: v1
kind: Config
clusters:
- name: coxswain
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caBundle)}
users:
- name: ${name}
  user:
${formatCredentials(credentials)}
contexts:
- name: ${context}
  context:
    cluster: coxswain
    user: ${name}
current-context: ${context}
`;
}

function formatCredentials(credentials: Credentials): string {
  if ("token" in credentials) return `    token: ${JSON.stringify(credentials.token)}`;
  const { cert, key } = credentials.admin;
  return `    client-certificate-data: ${base64(cert)}\n    client-key-data: ${base64(key)}`;
}

function base64(pem: string): string {
  return Buffer.from(pem).toString("base64");
}
