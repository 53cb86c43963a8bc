/**
 * @returns the values of the query parameter `dryRun`; an empty value counts as absent, whereas
 *   kube-apiserver 1.36 answers 422
 */
export function dryRunOfQuery(query: URLSearchParams): readonly string[] {
  return query.getAll("dryRun").filter((value) => value !== "");
}
