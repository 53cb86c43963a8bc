/** The authorizers that a configuration names, in its order. Source: access-control §5.3. */
import type {
  AuthorizationConfiguration,
  AuthorizerConfiguration,
  AuthorizerType,
  WebhookConfiguration,
} from "./configuration/contract.ts";
import type { AuthorizationObserver, Authorizer } from "./contract.ts";
import { type AuthorizationModule, authorizerOf, ruleResolverOf, webhookModule } from "./modes.ts";
import type { OpenWebhook } from "./webhook/open-webhook.ts";

export interface Chain {
  readonly authorize: Authorizer;
  readonly rulesOf: ReturnType<typeof ruleResolverOf>;
  /** Another chain is asked from now on; who was asked already still answers. */
  retire(): void;
  close(): void;
}

export interface ChainNeeds {
  /** All but webhooks; those that are undefined were not asked for when the server started. */
  readonly modules: Readonly<Partial<Record<AuthorizerType, AuthorizationModule>>>;
  openWebhook(name: string, configuration: WebhookConfiguration): Promise<OpenWebhook>;
  readonly observer: AuthorizationObserver;
}

/** @throws Error for an authorizer that cannot be had; nothing stays open then */
export async function openChain({ authorizers }: AuthorizationConfiguration, needs: ChainNeeds): Promise<Chain> {
  const webhooks: OpenWebhook[] = [];
  const close = (): void => {
    for (const webhook of webhooks) webhook.close();
  };
  const moduleOf = async ({ type, name, webhook }: AuthorizerConfiguration): Promise<AuthorizationModule> => {
    if (webhook === undefined) return presentModule(type, needs);
    const opened = await needs.openWebhook(name, webhook);
    webhooks.push(opened);
    return webhookModule(opened.authorize);
  };
  try {
    const modules: AuthorizationModule[] = [];
    for (const authorizer of authorizers) {
      modules.push({
        ...(await moduleOf(authorizer)),
        counts: needs.observer.decisions(authorizer.type, authorizer.name),
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

function presentModule(type: AuthorizerType, { modules }: ChainNeeds): AuthorizationModule {
  const module = modules[type];
  if (module === undefined)
    throw new Error(`authorizer type ${type} is not allowed if it was not enabled at initial server startup`);
  return module;
}
