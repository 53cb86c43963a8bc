/** URLs. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/urls.go */

import {
  escapedPath,
  formatGoUrl,
  type GoUrl,
  GoUrlError,
  hostnameOf,
  parseGoUrl,
  parseRequestUri,
  portOf,
  queryOf,
  textOf,
} from "../../../go-net/go-url.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { boolType, type CelType, listType, mapType, opaqueType, stringType } from "../../types.ts";
import { ArrayList, HashMap } from "../../values/containers.ts";
import { type CelFailure, fail, noSuchOverload } from "../../values/failure.ts";
import { CelOpaque, type CelValue, type Equality } from "../../values/value.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal, reading } from "./costs.ts";

/** The type of `url("https://example.com")`. */
export const urlType = opaqueType("kubernetes.URL");

class CelUrl extends CelOpaque {
  readonly url: GoUrl;
  constructor(url: GoUrl) {
    super();
    this.url = url;
  }
  get type(): CelType {
    return urlType;
  }
  equals(other: CelValue): Equality {
    return other instanceof CelUrl ? other.toString() === this.toString() : noSuchOverload();
  }
  toString(): string {
    return formatGoUrl(this.url);
  }
}

/** @returns Go's message for an invalid request URI, or undefined */
export function findRequestUriError(text: string): string | undefined {
  try {
    parseRequestUri(text);
    return undefined;
  } catch (error) {
    if (error instanceof GoUrlError) return error.message;
    throw error;
  }
}

/** As in Kubernetes, the text must be a valid request URI, but can have a fragment. */
function parse(text: string): CelUrl | CelFailure {
  try {
    parseRequestUri(text);
    return new CelUrl(parseGoUrl(text));
  } catch (error) {
    if (error instanceof GoUrlError) return fail(`URL parse error during conversion from string: ${error.message}`);
    throw error;
  }
}

function query(url: GoUrl): CelValue {
  return HashMap.of([...queryOf(url)].map(([name, values]) => [name, new ArrayList(values)]));
}

function accessor(name: string, id: string, read: (url: GoUrl) => string): FunctionDeclaration {
  return {
    ...declare(name, member(id, [urlType], stringType, { evaluate: ({ url }: CelUrl) => textOf(read(url)) })),
    ...nominal,
  };
}

/** `url`, `isURL` and functions of URLs. */
export const kubernetesUrls = library({
  functions: [
    {
      ...declare("url", overload("string_to_url", [stringType], urlType, { evaluate: parse })),
      ...reading(1, { keepsSize: true }),
    },
    declare(
      "isURL",
      overload("is_url_string", [stringType], boolType, {
        evaluate: (text: string) => findRequestUriError(text) === undefined,
      }),
    ),
    accessor("getScheme", "url_get_scheme", ({ scheme }) => scheme),
    accessor("getHost", "url_get_host", ({ host }) => host),
    accessor("getHostname", "url_get_hostname", hostnameOf),
    accessor("getPort", "url_get_port", portOf),
    accessor("getEscapedPath", "url_get_escaped_path", escapedPath),
    {
      ...declare(
        "getQuery",
        member("url_get_query", [urlType], mapType(stringType, listType(stringType)), {
          evaluate: ({ url }: CelUrl) => query(url),
        }),
      ),
      ...nominal,
    },
  ],
});
