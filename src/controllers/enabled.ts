/** Evaluates the flag `--controllers`. Source: kube-controller-manager's flag of the same name. */

/** The valid names, as upstream. */
const controllerNames = [
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
  ["root-ca-cert-publisher", "root-ca-certificate-publisher-controller"],
  ["serviceaccount", "serviceaccount-controller"],
  ["serviceaccount-token", "serviceaccount-token-controller"],
  ["tokencleaner", "token-cleaner-controller"],
]);

/**
 * Returns the enabled controllers.
 * @param list `*` enables all that are on by default, `foo` enables one, `-foo` disables one; the
 *   first item for a controller takes precedence over `*`
 * @throws Error for an unknown name
 */
export function enabledControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const words = list.map((word) => (word.startsWith("-") ? `-${nameOf(word.slice(1))}` : nameOf(word)));
  const valid: readonly string[] = controllerNames;
  for (const [index, word] of words.entries()) {
    if (word !== "*" && !valid.includes(word.replace(/^-/, "")))
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
