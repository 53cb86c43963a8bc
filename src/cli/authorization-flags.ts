/** The flags of authorization. Names and defaults are kube-apiserver's. */
import type { AuthorizationOptions } from "../authorization/contract.ts";
import { durationMs, stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { authorization: AuthorizationOptions } };

function webhookFlag<T>(
  term: string,
  read: (text: string) => T,
  change: (value: T) => AuthorizationOptions["webhook"],
  rest: Pick<Flag, "help">,
): Flag {
  return {
    term: `--authorization-webhook-${term}`,
    ...rest,
    set(text, { server }: Draft) {
      const { authorization } = server;
      server.authorization = { ...authorization, webhook: { ...authorization.webhook, ...change(read(text)) } };
    },
  };
}

const same = (text: string): string => text;

export const authorizationFlags: readonly Flag[] = [
  {
    term: "--authorization-mode <modes>",
    help: "Ordered list of authorizers with commas between: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook; may be repeated. If unset, Node,RBAC. Members of system:masters may always do all.",
    set: (text, { server }) => {
      server.authorizationModes = [...server.authorizationModes, ...stringSlice(text)];
    },
  },
  {
    term: "--authorization-policy-file <file>",
    help: "File with a policy in JSON per line, for --authorization-mode=ABAC.",
    set: (text, { server }) => {
      server.authorizationPolicyFile = unlessEmpty(text);
    },
  },
  {
    term: "--authorization-config <file>",
    help: "File with an apiserver.config.k8s.io AuthorizationConfiguration: the authorizers in their order, webhooks among them. It is followed as it changes. Not together with --authorization-mode and --authorization-webhook-*.",
    set: (text, { server }: Draft) => {
      server.authorization = { ...server.authorization, configFile: unlessEmpty(text) };
    },
  },
  webhookFlag("config-file <file>", unlessEmpty, (configFile) => ({ configFile }), {
    help: "File in kubeconfig form that says which service to ask, for --authorization-mode=Webhook.",
  }),
  webhookFlag("version <version>", same, (version) => ({ version }), {
    help: "Version of the authorization.k8s.io SubjectAccessReview that the webhook is sent, and answers: v1 or, if unset, v1beta1.",
  }),
  webhookFlag("cache-authorized-ttl <duration>", durationMs, (authorizedTtlMs) => ({ authorizedTtlMs }), {
    help: "How long it is remembered that the webhook allowed something: 5m0s if unset; 0 is not at all.",
  }),
  webhookFlag("cache-unauthorized-ttl <duration>", durationMs, (unauthorizedTtlMs) => ({ unauthorizedTtlMs }), {
    help: "How long other answers of the webhook are remembered: 30s if unset; 0 is not at all.",
  }),
];
