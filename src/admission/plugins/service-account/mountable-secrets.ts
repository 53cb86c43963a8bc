/**
 * Limits the secrets of pods to those of their service account, where an annotation of the account
 * requires it. Source: `limitSecretReferences` in
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/serviceaccount/admission.go.
 */
import { items, type Part } from "../../../apis/fields.ts";
import type { Account } from "./accounts.ts";

/** @returns why the pod is rejected; undefined if the account has all its secrets */
export function secretProblem(account: Account, spec: Part): string | undefined {
  const { name, mountableSecrets, imagePullSecrets } = account;
  if (mountableSecrets === undefined) return undefined;
  const end = `is not allowed because service account ${name} does not reference that`;
  for (const { secret } of items(spec.volumes)) {
    if (secret !== undefined && !mountableSecrets.has(secret.secretName ?? ""))
      return `volume with secret.secretName="${secret.secretName ?? ""}" ${end} secret`;
  }
  const problem =
    containerSecretProblem(account, "init container", spec.initContainers) ??
    containerSecretProblem(account, "container", spec.containers);
  if (problem !== undefined) return problem;
  const pullable = new Set(imagePullSecrets);
  const index = items(spec.imagePullSecrets).findIndex((secret) => !pullable.has(secret.name ?? ""));
  if (index < 0) return undefined;
  return `imagePullSecrets[${index}].name="${spec.imagePullSecrets[index].name ?? ""}" ${end} imagePullSecret`;
}

/**
 * Checks the environment variables of containers.
 *
 * @param kind `container`, `init container` or `ephemeral container`
 * @returns why the pod is rejected
 */
export function containerSecretProblem(
  { name, mountableSecrets }: Account,
  kind: string,
  containers: unknown,
): string | undefined {
  if (mountableSecrets === undefined) return undefined;
  for (const container of items(containers)) {
    for (const [source, secret] of secretsOf(container)) {
      if (!mountableSecrets.has(secret))
        return `${kind} ${container.name ?? ""} with ${source} referencing secret.secretName="${secret}" is not allowed because service account ${name} does not reference that secret`;
    }
  }
  return undefined;
}

function* secretsOf({ env, envFrom }: Part): Generator<readonly [source: string, secret: string]> {
  for (const { name = "", valueFrom } of items(env))
    if (valueFrom?.secretKeyRef !== undefined) yield [`envVar ${name}`, valueFrom.secretKeyRef.name ?? ""];
  for (const { secretRef } of items(envFrom)) if (secretRef !== undefined) yield ["envFrom", secretRef.name ?? ""];
}
