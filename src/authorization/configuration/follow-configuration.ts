/** A chain that is made anew when its file changes. Source: access-control §5.3; kube-apiserver's reloadableAuthorizerResolver. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ReloadObserver } from "../../apimachinery/reload-observer.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../../lib/watched-file/watched-file.ts";
import type { Chain } from "../chain.ts";
import { parseAuthorizationConfiguration } from "./configuration.ts";
import type { AuthorizationConfiguration } from "./contract.ts";

export interface FollowOptions {
  readonly file: string;
  /** What was read of it, and made of that. */
  readonly content: Uint8Array;
  readonly configuration: AuthorizationConfiguration;
  readonly chain: Chain;
  /** @throws Error for an authorizer that cannot be had */
  open(configuration: AuthorizationConfiguration): Promise<Chain>;
  readonly reloads: ReloadObserver;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What cannot be used leaves things as they are. Authorizers that are no webhooks can neither be added nor taken away, but change places. */
export function followConfiguration(options: FollowOptions): Chain {
  const { file, content, open, reloads, clock, logger } = options;
  const requiredTypes = options.configuration.authorizers.map(({ type }) => type);
  let { chain, configuration } = options;
  let closed = false;
  let work: Promise<void> = Promise.resolve();
  reloads.started(content);

  async function use(found: Buffer): Promise<void> {
    const next = parseAuthorizationConfiguration(found, requiredTypes);
    if (sameText(next, configuration)) return;
    logger.info("found new authorization config");
    configuration = next; // Though it may turn out to be of no use: it is not tried again.
    const opened = await open(next);
    if (closed) return opened.close();
    chain.retire();
    chain = opened;
    logger.info("reloaded authz config");
    reloads.succeeded(found);
  }

  function fail(error: unknown): void {
    logger.error("reloading authorization config", { error: fileProblem(error, file) ?? (error as Error).message });
    reloads.failed();
  }

  const watched = watchFile(file, {
    known: content,
    after: clock.after,
    onContent(found) {
      logger.info("found new authorization config data");
      work = work.then(() => use(found)).catch(fail);
    },
    onError: fail,
  });
  return {
    authorize: (attributes) => chain.authorize(attributes),
    rulesOf: (user, namespace) => chain.rulesOf(user, namespace),
    retire: () => chain.retire(),
    close() {
      closed = true;
      watched.close();
      chain.close();
    },
  };
}

/** What is compiled follows from the rest, and is no text. */
function sameText(a: AuthorizationConfiguration, b: AuthorizationConfiguration): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
