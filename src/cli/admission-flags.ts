/** Admission flags. Names and defaults are kube-apiserver's. */
import { configurationParsers } from "../admission/config/parsers.ts";
import { implementedPlugins, requiredConfigurations } from "../admission/options.ts";
import { defaultSeconds } from "../admission/plugins/default-toleration-seconds.ts";
import { boolValue, integerWithin, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const safeIntegers = { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER };
const { byDefault, onRequest } = implementedPlugins;
const configuredPlugins = Object.keys(configurationParsers);

const add =
  (which: "enable" | "disable"): Flag["set"] =>
  (text, { server }) => {
    server.admission = { ...server.admission, [which]: [...server.admission[which], ...stringSlice(text)] };
  };

const setTolerationSeconds =
  (which: "notReadyTolerationSeconds" | "unreachableTolerationSeconds"): Flag["set"] =>
  (text, { server }) => {
    server.admission = { ...server.admission, [which]: integerWithin(text, safeIntegers) };
  };

export const admissionFlags: readonly Flag[] = [
  {
    term: "--admission-control <names>",
    help: "Comma-separated list of the only admission plugins that run, in any order.",
    deprecated:
      "Use --enable-admission-plugins or --disable-admission-plugins instead. Will be removed in a future version.",
    set: (text, { server }) => {
      server.admission = { ...server.admission, only: [...(server.admission.only ?? []), ...stringSlice(text)] };
    },
  },
  {
    term: "--admission-control-config-file <file>",
    help: `File with an AdmissionConfiguration (apiserver.config.k8s.io/v1): the configuration of admission plugins, or the paths of files with it. These plugins have one: ${configuredPlugins.join(", ")}. ${[...requiredConfigurations.keys()].join(" and ")} require it.`,
    set: (text, { server }) => {
      server.admission = { ...server.admission, configFile: text };
    },
  },
  {
    term: "--default-not-ready-toleration-seconds <int>",
    help: `tolerationSeconds of the toleration for notReady:NoExecute that the plugin DefaultTolerationSeconds adds to pods without such a toleration; ${defaultSeconds} by default.`,
    unset: "300",
    set: setTolerationSeconds("notReadyTolerationSeconds"),
  },
  {
    term: "--default-unreachable-toleration-seconds <int>",
    help: `As --default-not-ready-toleration-seconds, for unreachable:NoExecute; ${defaultSeconds} by default.`,
    unset: "300",
    set: setTolerationSeconds("unreachableTolerationSeconds"),
  },
  {
    term: "--enable-admission-explain [bool]",
    help: "Answer `coxswain admission explain`: what each admission plugin, webhook and policy did to a dry run. Users see only configurations and parameters that they can get.",
    set: (text, { server }) => {
      server.admission = { ...server.admission, explain: boolValue(text) };
    },
  },
  {
    term: "--enable-admission-plugins <names>",
    help: `Comma-separated list of admission plugins to run in addition to the default ones (${byDefault.join(", ")}), in any order: ${onRequest.join(", ")}. Other default plugins of kube-apiserver are accepted without effect.`,
    set: add("enable"),
  },
  {
    term: "--disable-admission-plugins <names>",
    help: `Comma-separated list of default admission plugins to disable (${byDefault.join(", ")}).`,
    set: add("disable"),
  },
];
