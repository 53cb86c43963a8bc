/** Kubernetes' environments by version, made once. */
import { type Environment, kubernetesEnvironment } from "../lib/cel/index.ts";

type Version = readonly [major: number, minor: number];

/** New expressions are held to the version before ours, so that a server that is rolled back knows them. */
const newVersion: Version = [1, 35];
const storedVersion: Version = [1, 36];

const environments = new Map<string, Environment>();

export function environmentOf(version: Version): Environment {
  const key = version.join(".");
  const environment = environments.get(key) ?? kubernetesEnvironment(version);
  environments.set(key, environment);
  return environment;
}

/** For what a client writes. */
export function newExpressions(): Environment {
  return environmentOf(newVersion);
}

/** For what has been stored: it keeps working, whoever stored it. */
export function storedExpressions(): Environment {
  return environmentOf(storedVersion);
}
