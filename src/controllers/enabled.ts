/** Which controllers run. Source: kube-controller-manager's `--controllers`. */

/** The names a list may have, as upstream's. */
export const controllerNames = [
  "clusterrole-aggregation-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "root-ca-certificate-publisher-controller",
  "serviceaccount-controller",
  "serviceaccount-token-controller",
] as const;

export type ControllerName = (typeof controllerNames)[number];

/**
 * @param list `*` stands for all, `foo` switches one on, `-foo` off; a name of its own wins over `*`
 * @throws Error for a name that is none
 */
export function enabledControllers(list: readonly string[]): ReadonlySet<ControllerName> {
  const known: readonly string[] = controllerNames;
  for (const word of list) {
    if (word !== "*" && !known.includes(word.replace(/^-/, ""))) throw new Error(`${JSON.stringify(word)} is not in the list of known controllers`);
  }
  return new Set(controllerNames.filter((name) => list.includes(name) || (list.includes("*") && !list.includes(`-${name}`))));
}
