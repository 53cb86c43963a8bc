/** Flags of authorization and admission. Names and defaults are kube-apiserver's. */
import { configurationParsers } from "../../admission/config/parsers.ts";
import { implementedPlugins, requiredConfigurations } from "../../admission/options.ts";
import { defaultSeconds } from "../../admission/plugins/default-toleration-seconds.ts";
import type { Flag } from "./contract.ts";
import { bool, duration, file, integer, list, text } from "./flag-types.ts";

const { byDefault, onRequest } = implementedPlugins;
const configuredPlugins = Object.keys(configurationParsers);

export const authorizationFlags: readonly Flag[] = [
  {
    name: "authorization-mode",
    option: "authorizationModes",
    type: list("modes"),
    default: [],
    help: "Ordered comma-separated list of authorizers: ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook; may be repeated. If unset, Node,RBAC. Members of system:masters are always allowed everything.",
    inCode:
      "ABAC, AlwaysAllow, AlwaysDeny, Node, RBAC, Webhook, in order of evaluation. Empty: Node, RBAC. The group system:masters is always allowed everything.",
    unset: "Node,RBAC",
    upstream: "",
  },
  {
    name: "authorization-policy-file",
    option: "authorizationPolicyFile",
    type: file,
    help: "File with one JSON policy per line, for --authorization-mode=ABAC.",
    inCode: "File of the mode ABAC: one policy in JSON per line.",
  },
  {
    name: "authorization-config",
    option: "authorization.configFile",
    type: file,
    help: "File with an apiserver.config.k8s.io AuthorizationConfiguration: the ordered authorizers, including webhooks. The file is reloaded when it changes. Excludes --authorization-mode and --authorization-webhook-*.",
  },
  {
    name: "authorization-webhook-config-file",
    option: "authorization.webhook.configFile",
    type: file,
    help: "File in kubeconfig format with the URL and credentials of the webhook, for --authorization-mode=Webhook.",
  },
  {
    name: "authorization-webhook-version",
    option: "authorization.webhook.version",
    type: text("version"),
    help: "Version of the authorization.k8s.io SubjectAccessReview that the webhook receives and returns: v1 or, if unset, v1beta1.",
    unset: "v1beta1",
  },
  {
    name: "authorization-webhook-cache-authorized-ttl",
    option: "authorization.webhook.authorizedTtlMs",
    type: duration,
    help: "How long allowed decisions of the webhook are cached: 5m0s if unset; 0 disables the cache.",
    unset: "5m0s",
  },
  {
    name: "authorization-webhook-cache-unauthorized-ttl",
    option: "authorization.webhook.unauthorizedTtlMs",
    type: duration,
    help: "How long other decisions of the webhook are cached: 30s if unset; 0 disables the cache.",
    unset: "30s",
  },
];

export const admissionFlags: readonly Flag[] = [
  {
    name: "admission-control",
    option: "admission.only",
    type: list("names"),
    help: "Comma-separated list of the only admission plugins that run, in any order.",
    deprecated:
      "Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.",
  },
  {
    name: "admission-control-config-file",
    option: "admission.configFile",
    type: file,
    help: `File with an AdmissionConfiguration (apiserver.config.k8s.io/v1): the configuration of admission plugins, or the paths of files with it. These plugins have one: ${configuredPlugins.join(", ")}. ${[...requiredConfigurations.keys()].join(" and ")} require it.`,
  },
  {
    name: "default-not-ready-toleration-seconds",
    option: "admission.notReadyTolerationSeconds",
    type: integer(),
    help: `tolerationSeconds of the toleration for notReady:NoExecute that the plugin DefaultTolerationSeconds adds to pods without such a toleration; ${defaultSeconds} by default.`,
    unset: String(defaultSeconds),
  },
  {
    name: "default-unreachable-toleration-seconds",
    option: "admission.unreachableTolerationSeconds",
    type: integer(),
    help: `As --default-not-ready-toleration-seconds, for unreachable:NoExecute; ${defaultSeconds} by default.`,
    unset: String(defaultSeconds),
  },
  {
    name: "enable-admission-explain",
    option: "admission.explain",
    type: bool,
    help: "Answer `coxswain admission explain`: what each admission plugin, webhook and policy did to a dry run. Users see only configurations and parameters that they can get.",
    upstream: null,
  },
  {
    name: "enable-admission-plugins",
    option: "admission.enable",
    type: list("names"),
    help: `Comma-separated list of admission plugins to run in addition to the default ones (${byDefault.join(", ")}), in any order: ${onRequest.join(", ")}. Other default plugins of kube-apiserver are accepted without effect.`,
  },
  {
    name: "disable-admission-plugins",
    option: "admission.disable",
    type: list("names"),
    help: `Comma-separated list of default admission plugins to disable (${byDefault.join(", ")}).`,
  },
];
