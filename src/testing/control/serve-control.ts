/** Serves the control paths. */
import { badRequest, methodNotAllowed } from "../../apimachinery/errors.ts";
import type { RequestContext } from "../../http/contract.ts";
import { resolveLiterals } from "../../lib/json/number-literal.ts";
import { JsonSyntaxError } from "../../lib/json/parse.ts";
import { decodeYaml, YamlError } from "../../lib/yaml/decode.ts";
import { pathNotFound, send } from "../../request/answer.ts";
import type { PathRoute } from "../../request/context.ts";
import type { ControlAnswer, ControlRequest, ControlRoute } from "./contract.ts";

/** The prefix of all control paths. */
export const controlPrefix = "/testing/";

const bodyBytesMax = 1 << 20;

/**
 * Creates the route of all control paths. Authorization has decided before: by the verb and the
 * path of a non-resource URL, which only roles with `*` grant by default.
 */
export function controlPaths(routes: readonly ControlRoute[]): readonly PathRoute<RequestContext>[] {
  return [{ path: `${controlPrefix}*`, handler: (context) => serve(context, routes) }];
}

async function serve(context: RequestContext, routes: readonly ControlRoute[]): Promise<void> {
  const { info, exchange } = context;
  const segments = info.path.slice(controlPrefix.length).split("/");
  const found = routes.flatMap((route) => {
    const parameters = match(route.path, segments);
    return parameters === undefined ? [] : [{ route, parameters }];
  });
  if (found.length === 0) return pathNotFound(context);
  const selected = found.find(({ route }) => route.method === exchange.method);
  if (selected === undefined) throw methodNotAllowed();
  const { route, parameters } = selected;
  answer(context, await route.handle(requestOf(context, parameters)));
}

/** @returns the segments that `*` matches; undefined when the path differs */
function match(path: string, segments: readonly string[]): string[] | undefined {
  const pattern = path.split("/");
  if (pattern.length !== segments.length) return undefined;
  const differs = pattern.some((part, index) => part !== "*" && part !== segments[index]);
  return differs ? undefined : segments.filter((_, index) => pattern[index] === "*");
}

function requestOf({ info, exchange }: RequestContext, parameters: readonly string[]): ControlRequest {
  const closed = new AbortController();
  exchange.onClose(() => closed.abort());
  return {
    parameters,
    signal: closed.signal,
    query: info.query,
    acceptsJson: (exchange.header("accept") ?? "").includes("application/json"),
    body: async () => readBody(await exchange.body(bodyBytesMax)),
    bytes: (bytesMax) => exchange.body(bytesMax),
  };
}

/** JSON is YAML. */
function readBody(bytes: Buffer): unknown {
  try {
    const { value, strictErrors } = decodeYaml(bytes);
    if (strictErrors.length > 0) throw badRequest(`the body is not valid: ${strictErrors.join("; ")}`);
    return resolveLiterals(value);
  } catch (error) {
    if (error instanceof YamlError || error instanceof JsonSyntaxError)
      throw badRequest(`the body is not valid: ${error.message}`);
    throw error;
  }
}

function answer(context: RequestContext, result: ControlAnswer): void {
  const { status = 200 } = result;
  const isText = "text" in result;
  context.headers["x-content-type-options"] = "nosniff";
  const body = Buffer.from(isText ? result.text : `${JSON.stringify(result.json)}\n`);
  send(context, status, isText ? "text/plain; charset=utf-8" : "application/json", body);
}
