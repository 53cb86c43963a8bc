/** Opens an authorization webhook from its configuration. */

import { type ClientOptions, webhookClient } from "../../webhook/client.ts";
import { readWebhookKubeconfig } from "../../webhook/kubeconfig-file.ts";
import type { WebhookConfiguration } from "../configuration/contract.ts";
import type { Authorizer } from "../contract.ts";
import { type WebhookAuthorizerOptions, webhookAuthorizer } from "./webhook.ts";

/** An authorizer that calls a webhook, and its connections. */
export interface OpenWebhook {
  readonly authorize: Authorizer;
  /**
   * Closes the connections when the current calls are done. Callers must not authorize any more.
   */
  retire(): void;
  /** Closes the connections. */
  close(): void;
}

/** Longer responses are rejected. */
const answerBytesMax = 1 << 20;

/**
 * Reads the kubeconfig of the webhook.
 *
 * @throws Error when the kubeconfig is missing or invalid
 */
export async function openWebhook(
  options: Omit<WebhookAuthorizerOptions, "client"> & Pick<ClientOptions, "calls">,
): Promise<OpenWebhook> {
  const { configuration, clock, logger, calls } = options;
  const file = kubeconfigOf(options.name, configuration);
  const endpoint = await readWebhookKubeconfig(file, { purpose: "authorization", logger, rejectParameters: true });
  const client = webhookClient(endpoint, { answerBytesMax, userAgent: "kube-apiserver", clock, calls });
  const authorize = webhookAuthorizer({ ...options, client });
  let open = 0;
  let retired = false;
  const done = (): void => {
    open--;
    if (retired && open === 0) client.close();
  };
  return {
    authorize(attributes) {
      const answer = authorize(attributes);
      if (!(answer instanceof Promise)) return answer;
      open++;
      return answer.finally(done);
    },
    retire() {
      retired = true;
      if (open === 0) client.close();
    },
    close: () => client.close(),
  };
}

/** The API server has no service account of its own, so it cannot use InClusterConfig. */
function kubeconfigOf(name: string, { connectionInfo }: WebhookConfiguration): string {
  if (connectionInfo.type === "KubeConfigFile") return connectionInfo.kubeConfigFile;
  throw new Error(`authorizer ${name}: connectionInfo.type InClusterConfig is not allowed for the API server itself`);
}
