/** All of authorization, from the options to the one question the server asks. */
import { readFile } from "node:fs/promises";
import type { FeatureGates } from "../api/feature-gates.ts";
import { type AbacPolicy, parseAbacPolicies } from "../authorization/abac/policy-file.ts";
import type { Authorizer } from "../authorization/contract.ts";
import {
  type AuthorizationMode,
  abacModule,
  alwaysAllowModule,
  alwaysDenyModule,
  authorizerOf,
  nodeModule,
  parseAuthorizationModes,
  rbacModule,
  ruleResolverOf,
} from "../authorization/modes.ts";
import { followRelations } from "../authorization/node/follow-relations.ts";
import { NodeRelations } from "../authorization/node/relations.ts";
import { type FollowedPolicy, followPolicy } from "../authorization/rbac/follow-policy.ts";
import { nodeRules } from "../boot/rbac/policy.ts";
import type { ServerOptions } from "../options.ts";
import type { RegistryContext } from "../registry/contract.ts";

/** What the options say, checked before anything is opened. */
export interface AccessSettings {
  readonly modes: readonly AuthorizationMode[];
  readonly abacPolicies: readonly AbacPolicy[];
}

export interface Access {
  readonly authorize: Authorizer;
  readonly rulesOf: ReturnType<typeof ruleResolverOf>;
  /** The roles and bindings, as the indexes of RBAC have them. */
  readonly rbac: FollowedPolicy;
  close(): void;
}

/** @throws Error when an option is not valid, or a file is not right */
export async function accessSettings(options: ServerOptions): Promise<AccessSettings> {
  const modes = parseAuthorizationModes(options.authorizationModes);
  return { modes, abacPolicies: await readAbacPolicies(options.authorizationPolicyFile, modes) };
}

/** @throws Error when the mode and its file are not given together, or the file is not right */
async function readAbacPolicies(file: string | undefined, modes: readonly AuthorizationMode[]): Promise<AbacPolicy[]> {
  if (file === undefined && modes.includes("ABAC")) throw new Error("authorization-mode ABAC's authorization policy file not passed");
  if (file !== undefined && !modes.includes("ABAC")) throw new Error("cannot specify --authorization-policy-file without mode ABAC");
  return file === undefined ? [] : parseAbacPolicies(await readFile(file, "utf8"), file);
}

interface Needs extends Pick<RegistryContext, "catalog" | "clock"> {
  readonly gates: FeatureGates;
  readonly logger: ServerOptions["logger"];
}

export function openAccess({ modes, abacPolicies }: AccessSettings, { catalog, clock, gates, logger }: Needs): Access {
  const rbac = followPolicy({ catalog, clock, logger });
  const nodes = modes.includes("Node") ? followRelations({ catalog, clock, logger }) : undefined;
  const modules = {
    ABAC: abacModule(abacPolicies),
    AlwaysAllow: alwaysAllowModule,
    AlwaysDeny: alwaysDenyModule,
    Node: nodeModule(nodes?.relations ?? new NodeRelations(), { rules: nodeRules(gates), enabled: gates.enabled }),
    RBAC: rbacModule(rbac.policy),
  };
  const chosen = modes.map((mode) => modules[mode]);
  return {
    authorize: authorizerOf(chosen),
    rulesOf: ruleResolverOf(chosen),
    rbac,
    close() {
      rbac.stop();
      nodes?.stop();
    },
  };
}
