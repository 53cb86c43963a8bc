/** The kubeconfig of a user. Certificates are inline, so that the file can be moved. */
import type { Certificates } from "./certificates.ts";

interface KubeconfigContent {
  readonly caBundle: string;
  /** The client certificate. */
  readonly admin: Certificates["admin"];
  /** The name of its user, without control characters; the admin by default. */
  readonly user?: string;
}

/** @param url such as `https://127.0.0.1:6443` */
export function formatKubeconfig(url: string, { caBundle, admin, user }: KubeconfigContent): string {
  // A string in JSON is one in YAML, too.
  const name = user === undefined ? "kubernetes-admin" : JSON.stringify(user);
  const context = user === undefined ? "kubernetes-admin@coxswain" : JSON.stringify(`${user}@coxswain`);
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
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
    client-certificate-data: ${base64(admin.cert)}
    client-key-data: ${base64(admin.key)}
contexts:
- name: ${context}
  context:
    cluster: coxswain
    user: ${name}
current-context: ${context}
`;
}
