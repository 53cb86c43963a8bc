/** The environments for new and for stored expressions, created once. */
import { binaryMinor, defaultVersion } from "../apimachinery/effective-version.ts";
import { type Environment, kubernetesEnvironment } from "../lib/cel/index.ts";

const environments = new Map<number, Environment>();

function environmentOf(minor: number): Environment {
  const environment = environments.get(minor) ?? kubernetesEnvironment([1, minor]);
  environments.set(minor, environment);
  return environment;
}

/**
 * The environment of expressions in client requests.
 *
 * @param minCompatible the oldest release that can compile them, such as 34
 */
export function newExpressions(minCompatible: number = defaultVersion.minCompatible): Environment {
  return environmentOf(minCompatible);
}

/** The environment of expressions in stored objects and configuration files. */
export function storedExpressions(): Environment {
  return environmentOf(binaryMinor);
}
