/** Reads an inline PEM from a kubeconfig that this project wrote. @throws Error if it is missing */
export function field(kubeconfig: string, name: string): string {
  const match = new RegExp(`${name}: "?([^"\\s]+)"?`).exec(kubeconfig);
  if (match === null) throw new Error(`the kubeconfig has no ${name}`);
  return Buffer.from(match[1] as string, "base64").toString();
}

/** The authority of the server, and the certificate and the key of the user, in PEM, as options of TLS. */
export function credentialsOf(kubeconfig: string): {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
} {
  return {
    ca: field(kubeconfig, "certificate-authority-data"),
    cert: field(kubeconfig, "client-certificate-data"),
    key: field(kubeconfig, "client-key-data"),
  };
}
