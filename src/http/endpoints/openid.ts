/** Two documents by which others check service account tokens. Source: access-control §5.2; upstream's OpenID metadata routes. */
import { methodNotAllowed } from "../../apimachinery/errors.ts";
import { send } from "../respond.ts";
import type { PathHandler, PathRoute } from "../serve.ts";

const maxAgeSeconds = 3600;

/**
 * @param metadata undefined where the issuer is no URL that relying parties could ask: then there are no such paths
 * @param keySet public keys
 */
export function openIdRoutes({
  metadata,
  keySet,
}: {
  metadata: (() => object) | undefined;
  keySet: () => object;
}): PathRoute[] {
  if (metadata === undefined) return [];
  return [
    ...documentRoutes("/.well-known/openid-configuration", documentHandler(metadata, "application/json")),
    ...documentRoutes("/openid/v1/jwks", documentHandler(keySet, "application/jwk-set+json")),
  ];
}

/** Some clients ask with a slash at the end, as upstream's OpenAPI documents name the paths. */
function documentRoutes(path: string, handler: PathHandler): PathRoute[] {
  return [
    { path, handler },
    { path: `${path}/`, handler },
  ];
}

/** Made when it is first asked for. */
function documentHandler(make: () => object, contentType: string): PathHandler {
  let body: Buffer | undefined;
  return (context) => {
    if (context.exchange.method !== "GET") throw methodNotAllowed();
    body ??= Buffer.from(JSON.stringify(make()));
    context.headers["cache-control"] = `public, max-age=${maxAgeSeconds}`;
    send(context, 200, contentType, body);
  };
}
