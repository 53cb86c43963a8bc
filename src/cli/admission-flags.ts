/** Admission flags. Names and defaults are kube-apiserver's. */
import { implementedPlugins } from "../admission/options.ts";
import { boolValue, stringSlice } from "./flag-values.ts";
import type { Flag } from "./flags.ts";

const { byDefault, onRequest } = implementedPlugins;

const add =
  (which: "enable" | "disable"): Flag["set"] =>
  (text, { server }) => {
    server.admission = { ...server.admission, [which]: [...server.admission[which], ...stringSlice(text)] };
  };

export const admissionFlags: readonly Flag[] = [
  {
    term: "--admission-control-config-file <file>",
    help: "File with an AdmissionConfiguration (apiserver.config.k8s.io/v1): the configuration of admission plugins, or the paths of files with it. MutatingAdmissionPolicy, MutatingAdmissionWebhook, ValidatingAdmissionPolicy and ValidatingAdmissionWebhook have one; that of other plugins is accepted without effect.",
    set: (text, { server }) => {
      server.admission = { ...server.admission, configFile: text };
    },
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
