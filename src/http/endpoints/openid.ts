/**
 * OpenID documents for verifying service account tokens. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/routes/openidmetadata.go.
 */
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import { send } from "../../request/answer.ts";
import type { PathHandler, PathRoute } from "../../request/context.ts";
import type { RequestContext } from "../contract.ts";
import { checkProduces } from "../representation/negotiate.ts";

/**
 * The routes of both documents.
 * @param metadata undefined when the issuer is not a URL that relying parties can reach: then there
 *   are no routes
 * @param keySet the public keys
 * @param maxAgeSeconds how long clients may keep the documents
 */
export function openIdRoutes({
  metadata,
  keySet,
  maxAgeSeconds,
}: {
  metadata: (() => object) | undefined;
  keySet: () => object;
  maxAgeSeconds: () => number;
}): PathRoute<RequestContext>[] {
  if (metadata === undefined) return [];
  return [
    ...documentRoutes(
      "/.well-known/openid-configuration",
      documentHandler(metadata, "application/json", maxAgeSeconds),
    ),
    ...documentRoutes("/openid/v1/jwks", documentHandler(keySet, "application/jwk-set+json", maxAgeSeconds)),
  ];
}

/** With and without a slash at the end, which upstream's OpenAPI documents have. */
function documentRoutes(path: string, handler: PathHandler<RequestContext>): PathRoute<RequestContext>[] {
  return [
    { path, handler },
    { path: `${path}/`, handler },
  ];
}

/** @throws ApiError 405, 406 */
function documentHandler(
  make: () => object,
  contentType: string,
  maxAgeSeconds: () => number,
): PathHandler<RequestContext> {
  return (context) => {
    if (context.exchange.method !== "GET") throw methodNotAllowed();
    checkProduces(context.exchange, contentType);
    context.headers["cache-control"] = `public, max-age=${maxAgeSeconds()}`;
    send(context, 200, contentType, Buffer.from(JSON.stringify(make())));
  };
}
