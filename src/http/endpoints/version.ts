/** `/version`: the API release. kubectl compares it with its own. */
import type { EffectiveVersion } from "../../apimachinery/effective-version.ts";
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import { versionBody } from "../../apimachinery/release.ts";
import type { PathHandler } from "../../request/context.ts";
import type { RequestContext } from "../contract.ts";
import { sendRawJson } from "../errors.ts";
import { checkProduces } from "../representation/negotiate.ts";

/**
 * Serves `/version`.
 * @throws ApiError 405, 406
 */
export function versionHandler(version: EffectiveVersion): PathHandler<RequestContext> {
  const body = versionBody(version);
  return (context) => {
    if (context.exchange.method !== "GET") throw methodNotAllowed();
    checkProduces(context.exchange, "application/json");
    sendRawJson(context, 200, body);
  };
}
