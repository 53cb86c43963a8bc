/**
 * Checks the options for browsers, and makes what they need.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/server_run_options.go.
 */
import { joinErrors } from "../lib/json/quote.ts";
import type { ServerOptions } from "./options.ts";

/** Decides about the header Origin. Undefined: no origin is allowed. */
export type AllowedOrigins = ((origin: string) => boolean) | undefined;

/** @throws Error with upstream's message */
export async function readBrowserOptions({
  strictTransportSecurity = [],
  corsAllowedOrigins = [],
}: Pick<ServerOptions, "strictTransportSecurity" | "corsAllowedOrigins">): Promise<AllowedOrigins> {
  const problems = strictTransportSecurity.flatMap(directiveProblem);
  if (problems.length > 0) throw new Error(joinErrors(problems));
  if (corsAllowedOrigins.length === 0) return undefined;
  const { allowedOrigins } = await import("./allowed-origins.ts");
  return allowedOrigins(corsAllowedOrigins);
}

function directiveProblem(directive: string): string[] {
  if (directive.trim() === "") return ["empty value in strict-transport-security-directives"];
  if (directive === "includeSubDomains" || directive === "preload" || /^max-age=[^=]*$/.test(directive)) return [];
  return [
    "--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see https://tools.ietf.org/html/rfc6797#section-6.1 for more information",
  ];
}
