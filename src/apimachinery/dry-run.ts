/** The values of the parameter `dryRun`. One without a value is as if it were absent (1.36 answers 422). */
export function dryRunOfQuery(query: URLSearchParams): readonly string[] {
  return query.getAll("dryRun").filter((value) => value !== "");
}
