/**
 * Source: `ValidateDryRun` in k8s.io/apimachinery@v0.36.0/pkg/apis/meta/v1/validation/validation.go.
 *
 * @returns the values of the query parameter `dryRun`; an empty value counts as absent, whereas
 *   kube-apiserver 1.36 answers 422
 */
export function dryRunOfQuery(query: URLSearchParams): readonly string[] {
  return query.getAll("dryRun").filter((value) => value !== "");
}
