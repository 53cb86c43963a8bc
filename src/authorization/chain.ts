/** The authorizers of an AuthorizationConfiguration, in its order. */
import type {
  AuthorizationConfiguration,
  AuthorizerConfiguration,
  AuthorizerType,
  WebhookConfiguration,
} from "./configuration/contract.ts";
import type { AuthorizationObserver, Authorizer } from "./contract.ts";
import { type AuthorizationModule, authorizerOf, ruleResolverOf, webhookModule } from "./modes.ts";
import type { OpenWebhook } from "./webhook/open-webhook.ts";

/** The authorizers of one configuration; a changed configuration opens another chain. */
export interface Chain {
  readonly authorize: Authorizer;
  /** Lists the rules of a user, for SelfSubjectRulesReview. */
  readonly rulesOf: ReturnType<typeof ruleResolverOf>;
  /**
   * Closes each webhook when its current calls are done. Callers must not authorize with the chain
   * any more.
   */
  retire(): void;
  /** Closes the connections of all webhooks. */
  close(): void;
}

interface ChainOptions {
  /**
   * The modules other than webhooks; undefined for types that were not enabled when the server
   * started.
   */
  readonly modules: Readonly<Partial<Record<AuthorizerType, AuthorizationModule>>>;
  openWebhook(name: string, configuration: WebhookConfiguration): Promise<OpenWebhook>;
  readonly observer: AuthorizationObserver;
}

/**
 * Opens the authorizers of a configuration, with their webhooks.
 *
 * @throws Error for a type that was not enabled at startup or a webhook whose kubeconfig is
 *   unusable; all webhooks are closed then
 */
export async function openChain({ authorizers }: AuthorizationConfiguration, options: ChainOptions): Promise<Chain> {
  const webhooks: OpenWebhook[] = [];
  const close = (): void => {
    for (const webhook of webhooks) webhook.close();
  };
  const moduleOf = async ({ type, name, webhook }: AuthorizerConfiguration): Promise<AuthorizationModule> => {
    if (webhook === undefined) return getModule(type, options);
    const opened = await options.openWebhook(name, webhook);
    webhooks.push(opened);
    return webhookModule(opened.authorize);
  };
  try {
    const modules: AuthorizationModule[] = [];
    for (const authorizer of authorizers) {
      modules.push({
        ...(await moduleOf(authorizer)),
        counts: options.observer.decisions(authorizer.type, authorizer.name),
      });
    }
    const retire = (): void => {
      for (const webhook of webhooks) webhook.retire();
    };
    return { authorize: authorizerOf(modules), rulesOf: ruleResolverOf(modules), retire, close };
  } catch (error) {
    close();
    throw error;
  }
}

function getModule(type: AuthorizerType, { modules }: ChainOptions): AuthorizationModule {
  const module = modules[type];
  if (module === undefined)
    throw new Error(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`);
  return module;
}
