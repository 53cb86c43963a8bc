/** The name of a proxied pod, service or node in a path. */

/** The parts of `name`, `name:port` or `scheme:name:port`; those that are missing are empty. */
export interface ProxiedName {
  readonly scheme: "" | "http" | "https";
  readonly name: string;
  /** A number, or the name of a port. */
  readonly port: string;
}

/**
 * Source: `SplitSchemeNamePort` in k8s.io/apimachinery@v0.36.0/pkg/util/net/port_split.go.
 * @returns undefined for other forms and schemes
 */
export function parseProxiedName(text: string): ProxiedName | undefined {
  const parts = text.split(":");
  if (parts.length > 3) return undefined;
  const [scheme, name, port] = parts.length === 3 ? parts : ["", ...parts];
  if (name === undefined || name === "") return undefined;
  if (scheme !== "" && scheme !== "http" && scheme !== "https") return undefined;
  return { scheme, name, port: port ?? "" };
}
