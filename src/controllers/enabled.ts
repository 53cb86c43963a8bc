/**
 * Evaluates the flag `--controllers`. Source: kube-controller-manager's flag of the same name
 * (`k8s.io/controller-manager@v0.36.0/options/generic.go` and `app/helper.go`).
 */
import { quoteGo } from "../lib/json/quote.ts";
import { absentControllers } from "./absent.ts";

/** The controllers that run in this process, under upstream's names. */
export const controllerNames = [
  "bootstrap-signer-controller",
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "legacy-serviceaccount-token-cleaner-controller",
  "namespace-controller",
  "persistentvolume-protection-controller",
  "persistentvolumeclaim-protection-controller",
  "podgroup-protection-controller",
  "resourcequota-controller",
  "root-ca-certificate-publisher-controller",
  "service-cidr-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "storage-version-migrator-controller",
  "storageversion-garbage-collector-controller",
  "token-cleaner-controller",
  "validatingadmissionpolicy-status-controller",
  "volumeattributesclass-protection-controller",
] as const;

/** A valid name in `--controllers`. */
export type ControllerName = (typeof controllerNames)[number];

/** Controllers that `*` does not enable. */
const offByDefault: ReadonlySet<ControllerName> = new Set(["bootstrap-signer-controller", "token-cleaner-controller"]);

/** Older names, which are also accepted. */
const aliases: ReadonlyMap<string, ControllerName> = new Map([
  ["bootstrapsigner", "bootstrap-signer-controller"],
  ["clusterrole-aggregation", "clusterrole-aggregation-controller"],
  ["garbagecollector", "garbage-collector-controller"],
  ["legacy-service-account-token-cleaner", "legacy-serviceaccount-token-cleaner-controller"],
  ["namespace", "namespace-controller"],
  ["pv-protection", "persistentvolume-protection-controller"],
  ["pvc-protection", "persistentvolumeclaim-protection-controller"],
  ["resourcequota", "resourcequota-controller"],
  ["root-ca-cert-publisher", "root-ca-certificate-publisher-controller"],
  ["serviceaccount", "serviceaccount-controller"],
  ["serviceaccount-token", "serviceaccount-token-controller"],
  ["storage-version-gc", "storageversion-garbage-collector-controller"],
  ["svm", "storage-version-migrator-controller"],
  ["tokencleaner", "token-cleaner-controller"],
]);

/**
 * Returns the enabled controllers.
 * @param list `*` enables all that are on by default, `foo` enables one, `-foo` disables one; the
 *   first item for a controller takes precedence over `*`
 * @throws Error for unknown names, with upstream's message, and for an enabled controller of
 *   kube-controller-manager that this process does not have
 */
export function enabledControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  checkNames(list);
  const words = list.map((word) => (word.startsWith("-") ? `-${nameOf(word.slice(1))}` : nameOf(word)));
  const isOn = (name: ControllerName): boolean => {
    const own = words.find((word) => word === name || word === `-${name}`);
    return own === undefined ? words.includes("*") && !offByDefault.has(name) : own === name;
  };
  return new Set(controllerNames.filter(isOn));
}

function checkNames(list: readonly string[]): void {
  const problems = new Set<string>();
  for (const item of list) {
    const word = item.replace(/^-/, "");
    if (item === "*" || isPresent(nameOf(word))) continue;
    if (!absentControllers.has(word)) problems.add(`${quoteGo(word)} is not in the list of known controllers`);
    else if (item === word) problems.add(`${quoteGo(word)} cannot be enabled: this server does not have it`);
  }
  const [first, ...more] = problems;
  if (first !== undefined) throw new Error(more.length === 0 ? first : `[${[first, ...more].join(", ")}]`);
}

function isPresent(name: string): boolean {
  return (controllerNames as readonly string[]).includes(name);
}

function nameOf(word: string): string {
  return aliases.get(word) ?? word;
}
