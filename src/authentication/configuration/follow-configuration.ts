/**
 * The authenticators of a configuration, made anew when its file changes; requests go on with the old ones until the new ones are ready. Source:
 * access-control §5.2; kube-apiserver's BuiltInAuthenticationOptions.
 */
import { isDeepStrictEqual } from "node:util";
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

export interface FollowedAuthenticators {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

export interface FollowOptions extends Omit<JwtAuthenticatorsOptions, "algorithms"> {
  readonly reloads: ReloadObserver;
  /** Is told of issuers that are no longer asked. */
  readonly forget: (issuers: readonly string[]) => void;
}

/** So long new authenticators may take until all their issuers answered. */
const readyMs = 60_000;
/** So long old ones serve the requests that have them already. */
const retireMs = 60_000;
/** What fails for a reason that may go away is tried again. */
const retryMs = 60_000;

/** @throws Error when there is no way to an issuer */
export function followAuthenticators(settings: AuthenticationSettings, options: FollowOptions): FollowedAuthenticators {
  const { clock, logger, reloads, forget } = options;
  const { algorithms, source } = settings;
  let current = jwtAuthenticators(settings.authenticators, { ...options, algorithms });
  const opened = new Set([current]);
  let closed = false;
  let cancelRetry = (): void => undefined;
  let work: Promise<void> = Promise.resolve();

  const retire = (old: JwtAuthenticators): void => {
    clock.after(retireMs, () => {
      opened.delete(old);
      old.close();
      forget(old.issuers.filter((issuer) => !current.issuers.includes(issuer)));
    });
  };
  const use = async (content: Buffer): Promise<void> => {
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
    work = work.then(() => (closed ? undefined : use(content))).catch(fail);
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

/** Who is nobody in particular is not changed while the server runs. @throws ConfigurationError · Error */
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
