/** A webhook, from its configuration to the one that asks it. Source: access-control §5.3. */

import { type ClientOptions, webhookClient } from "../../webhook/client.ts";
import { readWebhookKubeconfig } from "../../webhook/kubeconfig-file.ts";
import type { WebhookConfiguration } from "../configuration/contract.ts";
import type { Authorizer } from "../contract.ts";
import { type WebhookAuthorizerOptions, webhookAuthorizer } from "./webhook.ts";

export interface OpenWebhook {
  readonly authorize: Authorizer;
  /** Takes no more questions, and ends its connections when those that go on are answered. */
  retire(): void;
  /** Ends its connections. */
  close(): void;
}

/** Longer answers are refused. */
const answerBytesMax = 1 << 20;

/** @throws Error when the kubeconfig is not there, or not right */
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

/** The service account of a pod is whom others ask this server as: here it has none. */
function kubeconfigOf(name: string, { connectionInfo }: WebhookConfiguration): string {
  if (connectionInfo.type === "KubeConfigFile") return connectionInfo.kubeConfigFile;
  throw new Error(`authorizer ${name}: connectionInfo.type InClusterConfig is not allowed for the API server itself`);
}
