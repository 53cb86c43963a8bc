/**
 * Reloads the authorizer chain when its file changes.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/authorizer/reload.go.
 */
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { ReloadObserver } from "../../apimachinery/reload-observer.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../../lib/watched-file/watched-file.ts";
import type { Chain } from "../chain.ts";
import { parseAuthorizationConfiguration } from "./configuration.ts";
import type { AuthorizationConfiguration } from "./contract.ts";

/** The options of {@link followConfiguration}. */
export interface FollowOptions {
  readonly file: string;
  /** The initial content of the file. `configuration` and `chain` are made from it. */
  readonly content: Uint8Array;
  readonly configuration: AuthorizationConfiguration;
  readonly chain: Chain;
  /** @throws Error when an authorizer cannot be opened */
  open(configuration: AuthorizationConfiguration): Promise<Chain>;
  readonly reloads: ReloadObserver;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Watches the configuration file. An invalid file leaves the current chain in use. A reload can add
 * and remove webhooks; other authorizers can only change their order.
 */
export function followConfiguration(options: FollowOptions): Chain {
  const { file, content, open, reloads, clock, logger } = options;
  const requiredTypes = options.configuration.authorizers.map(({ type }) => type);
  let { chain, configuration } = options;
  let closed = false;
  let pending: Promise<void> = Promise.resolve();
  reloads.started(content);

  async function apply(found: Buffer): Promise<void> {
    const next = parseAuthorizationConfiguration(found, requiredTypes);
    if (isSameConfiguration(next, configuration)) return;
    logger.info("found new authorization config");
    configuration = next; // Also when open() fails, so that the same content is not tried again.
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
    after: realClock(clock).after,
    onContent(found) {
      logger.info("found new authorization config data");
      pending = pending.then(() => apply(found)).catch(fail);
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

/** Functions, which JSON omits, are derived from the other fields. */
function isSameConfiguration(a: AuthorizationConfiguration, b: AuthorizationConfiguration): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
