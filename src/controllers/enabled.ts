/** Which controllers run. Source: kube-controller-manager's `--controllers`. */

/** The names a list may have, as upstream's. */
export const controllerNames = [
  "bootstrap-signer-controller",
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "legacy-serviceaccount-token-cleaner-controller",
  "namespace-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
  "token-cleaner-controller",
] as const;

export type ControllerName = (typeof controllerNames)[number];

/** Those that `*` does not stand for. */
const offByDefault: ReadonlySet<ControllerName> = new Set(["bootstrap-signer-controller", "token-cleaner-controller"]);

/** Older names, which are taken, too. */
const aliases: ReadonlyMap<string, ControllerName> = new Map([
  ["bootstrapsigner", "bootstrap-signer-controller"],
  ["clusterrole-aggregation", "clusterrole-aggregation-controller"],
  ["garbagecollector", "garbage-collector-controller"],
  ["legacy-service-account-token-cleaner", "legacy-serviceaccount-token-cleaner-controller"],
  ["namespace", "namespace-controller"],
  ["root-ca-cert-publisher", "root-ca-certificate-publisher-controller"],
  ["serviceaccount", "serviceaccount-controller"],
  ["serviceaccount-token", "serviceaccount-token-controller"],
  ["tokencleaner", "token-cleaner-controller"],
]);

/**
 * @param list `*` stands for all but those that are off by default, `foo` switches one on, `-foo` off; what a name says first wins over `*`
 * @throws Error for a name that is none
 */
export function enabledControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const words = list.map((word) => (word.startsWith("-") ? `-${nameOf(word.slice(1))}` : nameOf(word)));
  const known: readonly string[] = controllerNames;
  for (const [index, word] of words.entries()) {
    if (word !== "*" && !known.includes(word.replace(/^-/, "")))
      throw new Error(`${JSON.stringify(list[index])} is not in the list of known controllers`);
  }
  const isOn = (name: ControllerName): boolean => {
    const own = words.find((word) => word === name || word === `-${name}`);
    return own === undefined ? words.includes("*") && !offByDefault.has(name) : own === name;
  };
  return new Set(controllerNames.filter(isOn));
}

function nameOf(word: string): string {
  return aliases.get(word) ?? word;
}
