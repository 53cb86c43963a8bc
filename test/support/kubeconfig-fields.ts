/** Reads an inline PEM from a kubeconfig that this project wrote. @throws Error if it is missing */
export function field(kubeconfig: string, name: string): string {
  const match = new RegExp(`${name}: "?([^"\\s]+)"?`).exec(kubeconfig);
  if (match === null) throw new Error(`the kubeconfig has no ${name}`);
  return Buffer.from(match[1] as string, "base64").toString();
}
