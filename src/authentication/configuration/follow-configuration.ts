/**
 * Reloads the JWT authenticators when the configuration file changes. Requests use the old
 * authenticators until the new ones are ready.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/options/authentication.go.
 */

import { isDeepStrictEqual } from "node:util";
import { realClock } from "../../apimachinery/clock.ts";
import { aggregated } from "../../apimachinery/configuration-file.ts";
import type { ReloadObserver } from "../../apimachinery/reload-observer.ts";
import { fileProblem } from "../../lib/kubeconfig/kubeconfig.ts";
import { watchFile } from "../../lib/watched-file/watched-file.ts";
import type { TokenAuthenticator } from "../contract.ts";
import {
  type JwtAuthenticators,
  type JwtAuthenticatorsOptions,
  jwtAuthenticators,
} from "../oidc/jwt-authenticators.ts";
import { readAuthenticationConfiguration } from "./configuration.ts";
import type { AuthenticationSettings } from "./settings.ts";
import { type CompiledAuthenticator, validateConfiguration } from "./validate.ts";

/** Authenticators that follow a configuration file. */
export interface FollowedAuthenticators {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

/** The options of {@link followAuthenticators}. */
export interface FollowOptions extends Omit<JwtAuthenticatorsOptions, "algorithms"> {
  readonly reloads: ReloadObserver;
  /** Receives the URLs of issuers that are no longer configured. */
  readonly forget: (issuers: readonly string[]) => void;
}

/** The limit for discovery of all issuers of new authenticators. */
const readyMs = 60_000;
/** Old authenticators are closed after this time, because current requests still use them. */
const retireMs = 60_000;
/** The delay before a failed discovery is repeated. */
const retryMs = 60_000;

/**
 * Starts the authenticators and follows the file.
 *
 * @throws Error when an egress selector type is not configured
 */
export function followAuthenticators(settings: AuthenticationSettings, options: FollowOptions): FollowedAuthenticators {
  const { logger, reloads, forget } = options;
  const clock = realClock(options.clock);
  const { algorithms, source } = settings;
  let current = jwtAuthenticators(settings.authenticators, { ...options, algorithms });
  const opened = new Set([current]);
  let closed = false;
  let cancelRetry = (): void => undefined;
  let pending: Promise<void> = Promise.resolve();

  const retire = (old: JwtAuthenticators): void => {
    clock.after(retireMs, () => {
      opened.delete(old);
      old.close();
      forget(old.issuers.filter((issuer) => !current.issuers.includes(issuer)));
    });
  };
  const apply = async (content: Buffer): Promise<void> => {
    const compiled = compile(content, settings);
    const next = jwtAuthenticators(compiled, { ...options, algorithms });
    opened.add(next);
    if (!(await readyWithin(next, clock))) {
      opened.delete(next);
      next.close();
      if (closed) return;
      cancelRetry = clock.after(retryMs, () => reload(content));
      throw new Error(problemsOf(next));
    }
    if (closed) return;
    retire(current);
    current = next;
    logger.info("reloaded authentication config");
    reloads.succeeded(content);
  };
  const fail = (error: unknown): void => {
    logger.error("failed to update authentication config", {
      error: fileProblem(error, source?.file ?? "") ?? (error as Error).message,
    });
    reloads.failed();
  };
  const reload = (content: Buffer): void => {
    cancelRetry();
    pending = pending.then(() => (closed ? undefined : apply(content))).catch(fail);
  };

  const watched =
    source === undefined
      ? undefined
      : watchFile(source.file, { known: source.content, after: clock.after, onContent: reload, onError: fail });
  if (source !== undefined) reloads.started(source.content);
  return {
    authenticate: (token, audiences) => current.authenticate(token, audiences),
    close() {
      closed = true;
      watched?.close();
      cancelRetry();
      for (const one of opened) one.close();
    },
  };
}

/**
 * The settings of anonymous requests cannot change in a reload.
 *
 * @throws ConfigurationError or Error for an invalid configuration
 */
function compile(
  content: Buffer,
  { configuration: first, validation }: AuthenticationSettings,
): readonly CompiledAuthenticator[] {
  const configuration = readAuthenticationConfiguration(content);
  const { errors, authenticators } = validateConfiguration(configuration, validation);
  if (!isDeepStrictEqual(configuration.anonymous, first.anonymous))
    errors.forbidden("anonymous", "changed from initial configuration file");
  const problem = aggregated(errors);
  if (problem !== undefined) throw new Error(problem);
  return authenticators;
}

function readyWithin({ ready }: JwtAuthenticators, clock: FollowOptions["clock"]): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(readyMs, () => resolve(false));
    ready.then(() => {
      cancel();
      resolve(true);
    });
  });
}

function problemsOf(authenticators: JwtAuthenticators): string {
  const problems = authenticators.problems();
  return problems.length === 1 ? (problems[0] as string) : `[${problems.join(", ")}]`;
}
