/** `--authorization-mode`: names with commas between. Texts are upstream's where it has them. */
import { FlagValueError } from "./flag-values.ts";

/** `Masters` is ours: system:masters may do all, and everyone may read the public paths. */
const modes = ["Masters", "AlwaysAllow", "AlwaysDeny"];
const upstreamModes = ["RBAC", "Node", "ABAC", "Webhook"];

/** @param before what the same flag already gave, since it may be repeated */
export function parseAuthorizationModes(text: string, before: readonly string[]): string[] {
  const named = [...before, ...text.split(",").filter((name) => name !== "")];
  for (const [index, mode] of named.entries()) {
    if (upstreamModes.includes(mode))
      throw new FlagValueError(`authorization-mode ${JSON.stringify(mode)} is not available yet; there are ${modes.join(", ")}`);
    if (!modes.includes(mode))
      throw new FlagValueError(`authorization-mode ${JSON.stringify(mode)} is not a valid mode; there are ${modes.join(", ")}`);
    if (named.indexOf(mode) !== index) throw new FlagValueError(`authorization-mode ${JSON.stringify(mode)} has mode specified more than once`);
  }
  return named;
}
