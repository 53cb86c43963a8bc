/**
 * OpenID documents for verifying service account tokens. Source:
 * k8s.io/kubernetes@v1.36.0/pkg/routes/openidmetadata.go.
 */
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import { send } from "../../request/answer.ts";
import type { PathHandler, PathRoute } from "../../request/context.ts";
import type { RequestContext } from "../contract.ts";

const maxAgeSeconds = 3600;

/**
 * The routes of both documents.
 * @param metadata undefined when the issuer is not a URL that relying parties can reach: then there
 *   are no routes
 * @param keySet the public keys
 */
export function openIdRoutes({
  metadata,
  keySet,
}: {
  metadata: (() => object) | undefined;
  keySet: () => object;
}): PathRoute<RequestContext>[] {
  if (metadata === undefined) return [];
  return [
    ...documentRoutes("/.well-known/openid-configuration", documentHandler(metadata, "application/json")),
    ...documentRoutes("/openid/v1/jwks", documentHandler(keySet, "application/jwk-set+json")),
  ];
}

/** With and without a slash at the end, which upstream's OpenAPI documents have. */
function documentRoutes(path: string, handler: PathHandler<RequestContext>): PathRoute<RequestContext>[] {
  return [
    { path, handler },
    { path: `${path}/`, handler },
  ];
}

/** Encodes the document at the first request. */
function documentHandler(make: () => object, contentType: string): PathHandler<RequestContext> {
  let body: Buffer | undefined;
  return (context) => {
    if (context.exchange.method !== "GET") throw methodNotAllowed();
    body ??= Buffer.from(JSON.stringify(make()));
    context.headers["cache-control"] = `public, max-age=${maxAgeSeconds}`;
    send(context, 200, contentType, body);
  };
}
