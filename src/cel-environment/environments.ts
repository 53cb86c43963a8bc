/** The environments for new and for stored expressions, created once. */
import { type Environment, kubernetesEnvironment } from "../lib/cel/index.ts";

type Version = readonly [major: number, minor: number];

/** One version older, so that a server that is rolled back can compile new expressions. */
const newVersion: Version = [1, 35];
const storedVersion: Version = [1, 36];

const environments = new Map<string, Environment>();

function environmentOf(version: Version): Environment {
  const key = version.join(".");
  const environment = environments.get(key) ?? kubernetesEnvironment(version);
  environments.set(key, environment);
  return environment;
}

/** The environment of expressions in client requests. */
export function newExpressions(): Environment {
  return environmentOf(newVersion);
}

/** The environment of expressions in stored objects and configuration files. */
export function storedExpressions(): Environment {
  return environmentOf(storedVersion);
}
