/** The kubeconfig of the admin. Certificates are inline, so that the file can be moved. */
import type { Certificates } from "./certificates.ts";

/** @param url such as `https://127.0.0.1:6443` */
export function formatKubeconfig(
  url: string,
  { caBundle, admin }: { caBundle: string; admin: Certificates["admin"] },
): string {
  const base64 = (pem: string): string => Buffer.from(pem).toString("base64");
  return `apiVersion: v1
kind: Config
clusters:
- name: coxswain
  cluster:
    server: ${url}
    certificate-authority-data: ${base64(caBundle)}
users:
- name: kubernetes-admin
  user:
    client-certificate-data: ${base64(admin.cert)}
    client-key-data: ${base64(admin.key)}
contexts:
- name: kubernetes-admin@coxswain
  context:
    cluster: coxswain
    user: kubernetes-admin
current-context: kubernetes-admin@coxswain
`;
}
