/** `--authorization-mode`: which authorizers are asked, and in which order. Source: access-control §5.3. */
import { alwaysAllow, alwaysDeny } from "./always.ts";
import type { Authorizer } from "./contract.ts";
import { masters } from "./masters.ts";
import { unionAuthorizer } from "./union.ts";

export const authorizationModes = ["AlwaysAllow", "AlwaysDeny", "RBAC"] as const;

export type AuthorizationMode = (typeof authorizationModes)[number];

/** @param names none for the default @throws Error for a mode that is not known, or given twice */
export function parseAuthorizationModes(names: readonly string[]): readonly AuthorizationMode[] {
  if (names.length === 0) return ["RBAC"];
  return names.map((name, index) => {
    const mode = authorizationModes.find((known) => known === name);
    if (mode === undefined)
      throw new Error(`authorization-mode ${JSON.stringify(name)} is not a valid mode: this server has ${authorizationModes.join(", ")}`);
    if (names.indexOf(name) !== index) throw new Error(`authorization-mode ${JSON.stringify(names)} has mode specified more than once`);
    return mode;
  });
}

/** As upstream, system:masters is asked before any mode. */
export function authorizerOf(modes: readonly AuthorizationMode[], rbac: Authorizer): Authorizer {
  const byMode = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny, RBAC: rbac };
  return unionAuthorizer([masters, ...modes.map((mode) => byMode[mode])]);
}
