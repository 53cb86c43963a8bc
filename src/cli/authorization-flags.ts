/** Authorization flags. Names and defaults are kube-apiserver's. */
import type { AuthorizationOptions } from "../authorization/contract.ts";
import { durationMs, stringSlice, unlessEmpty } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

type Draft = { server: { authorization: AuthorizationOptions } };

function webhookFlag<T>(
  term: string,
  read: (text: string) => T,
  change: (value: T) => AuthorizationOptions["webhook"],
  rest: Pick<Flag, "help" | "unset">,
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
    help: "Ordered comma-separated list of authorizers: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook; may be repeated. If unset, Node,RBAC. Members of system:masters are always allowed everything.",
    unset: "Node,RBAC",
    set: (text, { server }) => {
      server.authorizationModes = [...server.authorizationModes, ...stringSlice(text)];
    },
  },
  {
    term: "--authorization-policy-file <file>",
    help: "File with one JSON policy per line, for --authorization-mode=ABAC.",
    set: (text, { server }) => {
      server.authorizationPolicyFile = unlessEmpty(text);
    },
  },
  {
    term: "--authorization-config <file>",
    help: "File with an apiserver.config.k8s.io AuthorizationConfiguration: the ordered authorizers, including webhooks. The file is reloaded when it changes. Excludes --authorization-mode and --authorization-webhook-*.",
    set: (text, { server }: Draft) => {
      server.authorization = { ...server.authorization, configFile: unlessEmpty(text) };
    },
  },
  webhookFlag("config-file <file>", unlessEmpty, (configFile) => ({ configFile }), {
    help: "File in kubeconfig format with the URL and credentials of the webhook, for --authorization-mode=Webhook.",
  }),
  webhookFlag("version <version>", same, (version) => ({ version }), {
    help: "Version of the authorization.k8s.io SubjectAccessReview that the webhook receives and returns: v1 or, if unset, v1beta1.",
    unset: "v1beta1",
  }),
  webhookFlag("cache-authorized-ttl <duration>", durationMs, (authorizedTtlMs) => ({ authorizedTtlMs }), {
    help: "How long allowed decisions of the webhook are cached: 5m0s if unset; 0 disables the cache.",
    unset: "5m0s",
  }),
  webhookFlag("cache-unauthorized-ttl <duration>", durationMs, (unauthorizedTtlMs) => ({ unauthorizedTtlMs }), {
    help: "How long other decisions of the webhook are cached: 30s if unset; 0 disables the cache.",
    unset: "30s",
  }),
];
