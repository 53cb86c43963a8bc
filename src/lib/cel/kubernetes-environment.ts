/** The Kubernetes environment. Source: k8s.io/apiserver@v0.36.0/pkg/cel/environment/base.go */
import { type Environment, standardEnvironment } from "./environment.ts";
import { lists } from "./functions/ext/lists.ts";
import { sets } from "./functions/ext/sets.ts";
import { basicStrings, extendedStrings } from "./functions/ext/strings.ts";
import { authorization, authorizationSelectors } from "./functions/kubernetes/authorizer.ts";
import { kubernetesCidr } from "./functions/kubernetes/cidr.ts";
import { kubernetesEquality } from "./functions/kubernetes/equality.ts";
import { kubernetesFormats } from "./functions/kubernetes/format.ts";
import { kubernetesIp } from "./functions/kubernetes/ip.ts";
import { kubernetesLists } from "./functions/kubernetes/lists.ts";
import { kubernetesQuantity } from "./functions/kubernetes/quantity.ts";
import { kubernetesRegex } from "./functions/kubernetes/regex.ts";
import { kubernetesSemver } from "./functions/kubernetes/semver.ts";
import { kubernetesUrls } from "./functions/kubernetes/url.ts";
import { optionalTypes } from "./functions/optional.ts";
import { twoVariableComprehensions } from "./functions/two-variable.ts";
import { librariesOf, library, type VersionedLibrary } from "./library.ts";
import { homogeneousLiterals, literalArguments } from "./validators.ts";

const always = [1, 0] as const;

/** `has()` is free, and literals of constants are evaluated once. */
const settings = library({ validators: [homogeneousLiterals], features: { presenceTestCost: 0, foldConstants: true } });
const validLiterals = library({ validators: [literalArguments] });
const crossTypeNumbers = library({ features: { crossTypeNumericComparisons: true } });

/** In the order of kube-apiserver, which determines the order of overloads. */
export const kubernetesLibraries: readonly VersionedLibrary[] = [
  { since: always, library: settings },
  { since: always, library: kubernetesEquality },
  { since: always, library: kubernetesUrls },
  { since: always, library: kubernetesRegex },
  { since: always, library: kubernetesLists },
  { since: [1, 27], library: authorization },
  { since: [1, 28], library: crossTypeNumbers },
  { since: [1, 28], library: optionalTypes },
  { since: [1, 28], library: kubernetesQuantity },
  { since: [1, 29], library: validLiterals },
  { since: always, until: [1, 29], library: basicStrings },
  { since: [1, 29], library: extendedStrings },
  { since: [1, 29], library: sets },
  { since: [1, 30], library: kubernetesIp },
  { since: [1, 30], library: kubernetesCidr },
  { since: [1, 31], library: kubernetesFormats },
  { since: [1, 31], library: authorizationSelectors },
  { since: [1, 32], library: twoVariableComprehensions },
  { since: [1, 33], library: kubernetesSemver },
  { since: [1, 34], library: lists },
];

/**
 * Returns the environment of a compatibility version. kube-apiserver checks new expressions against
 * the version before its own, so that they survive a rollback, and stored ones against its own.
 *
 * @example
 * ```ts
 * import { dynType, jsonValue, kubernetesEnvironment } from "coxswain/cel";
 *
 * const environment = kubernetesEnvironment([1, 36]).extend({ variables: [{ name: "self", type: dynType }] });
 * const program = environment.plan(environment.compile("self.replicas <= 3"));
 * const self = jsonValue({ replicas: 2 });
 * console.log(program.evaluate(new Map([["self", self]]))); // { value: true, cost: 3 }
 * ```
 */
export function kubernetesEnvironment(version: readonly [major: number, minor: number]): Environment {
  return standardEnvironment().extend(...librariesOf(kubernetesLibraries, version));
}
