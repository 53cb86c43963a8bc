/** The patterns of `--cors-allowed-origins`. Loaded only with such a flag. */
import { RE2JS, RE2JSSyntaxException } from "re2js";
import { joinErrors } from "../lib/json/quote.ts";

const help =
  "List of allowed origins for CORS, comma separated. An allowed origin can be a regular expression to support subdomain matching. If this list is empty CORS will not be enabled. Please ensure each expression matches the entire hostname by anchoring to the start with '^' or including the '//' prefix, and by anchoring to the end with '$' or including the ':' port separator suffix. Examples of valid expressions are '//example\\.com(:|$)' and '^https://example\\.com(:|$)'";
/** No browser sends a longer origin. */
const originCharactersMax = 4096;

/** @returns whether an origin matches one of the patterns @throws Error with upstream's message */
export function allowedOrigins(patterns: readonly string[]): (origin: string) => boolean {
  const problems: string[] = [];
  const compiled = patterns.flatMap((pattern) => {
    const found = compile(pattern);
    if (typeof found !== "string") return [found];
    problems.push(found);
    return [];
  });
  if (problems.length > 0) throw new Error(joinErrors(problems));
  return (origin) => origin.length <= originCharactersMax && compiled.some((one) => one.matcher(origin).find());
}

/** @returns the problem as a text */
function compile(pattern: string): RE2JS | string {
  if (pattern === "") return `empty value in --cors-allowed-origins, help: ${help}`;
  const problem = (why: string): string =>
    `--cors-allowed-origins has an invalid regular expression: ${why}, help: ${help}`;
  try {
    const compiled = RE2JS.compile(pattern);
    const isPinned = /\^|\/\//.test(pattern) && /[$:]/.test(pattern);
    return isPinned ? compiled : problem("regular expression does not pin to start/end of host in the origin header");
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error;
    return problem(error.message);
  }
}
