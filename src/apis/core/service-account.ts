/**
 * ServiceAccount: of its references to secrets, only the names are stored.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/serviceaccount/strategy.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { items } from "../fields.ts";

const mountableAnnotation = "kubernetes.io/enforce-mountable-secrets";
const mountableAdvice = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";

/** Strategy of `serviceaccounts`. */
export const serviceAccount = strategy({
  columns: [nameColumn, ageColumn],
  isolatesStatus: false,
  prepareForCreate: keepNamesOfSecrets,
  prepareForUpdate: keepNamesOfSecrets,
  validateUpdate(next, _old, errors) {
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
  },
  warnings: (object, old) =>
    isAnnotated(object) && !(old && isAnnotated(old))
      ? [`metadata.annotations[${mountableAnnotation}]: ${mountableAdvice}`]
      : [],
});

const isAnnotated = ({ metadata }: KubeObject): boolean =>
  Object.hasOwn(metadata.annotations ?? {}, mountableAnnotation);

function keepNamesOfSecrets(object: KubeObject): void {
  if (!object.secrets) return;
  object.secrets = items(object.secrets).map(({ name }) => ((name ?? "") === "" ? {} : { name }));
}
