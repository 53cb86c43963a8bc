/** `--authorization-mode`. Unset, system:masters may do all, everyone may read the public paths, and who is known may ask who that is. */
import { alwaysAllow, alwaysDeny } from "./always.ts";
import { basicUser } from "./basic-user.ts";
import type { Authorizer } from "./contract.ts";
import { masters } from "./masters.ts";
import { publicPaths } from "./public-paths.ts";
import { unionAuthorizer } from "./union.ts";

const modes: Readonly<Record<string, Authorizer>> = { AlwaysAllow: alwaysAllow, AlwaysDeny: alwaysDeny };

/** @throws Error for a mode that is not known, or given twice */
export function authorizerOf(names: readonly string[]): Authorizer {
  const chosen = names.map((name, index) => {
    const authorizer = Object.hasOwn(modes, name) ? modes[name] : undefined;
    if (authorizer === undefined)
      throw new Error(`authorization-mode ${JSON.stringify(name)} is not a valid mode: this server has ${Object.keys(modes).join(", ")}`);
    if (names.indexOf(name) !== index) throw new Error(`authorization-mode ${JSON.stringify(names)} has mode specified more than once`);
    return authorizer;
  });
  // As upstream, system:masters is asked before any mode.
  return unionAuthorizer(chosen.length === 0 ? [masters, publicPaths, basicUser] : [masters, ...chosen]);
}
