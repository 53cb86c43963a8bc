/**
 * Negotiates the form of a page about the server.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/statusz/negotiate/negotiation.go.
 */
import type { RequestContext } from "../contract.ts";
import type { Encoding } from "./contract.ts";
import { choose, withPretty } from "./negotiate.ts";

/** A page about the server: text, or a kind of an internal group. */
interface DebugPage {
  readonly group: string;
  readonly kind: string;
  readonly versions: readonly string[];
  /** Its text. */
  text(): Buffer;
}

/** The form of a page. */
interface PageForm {
  readonly encoding: Encoding;
  /** Of the kind; undefined for text. */
  readonly version: string | undefined;
}

/**
 * @returns text, also without Accept; undefined when no accepted form is supported
 */
export function negotiateDebugPage(
  context: Pick<RequestContext, "exchange" | "info" | "encodings">,
  { group, kind, versions, text }: DebugPage,
): PageForm | undefined {
  const plain = plainText(text);
  const accept = context.exchange.header("accept") ?? "";
  if (accept.trim() === "") return { encoding: plain, version: undefined };
  const chosen = choose(accept, [...untyped(context.encodings), plain], {
    allows: (encoding, target) =>
      encoding === plain
        ? target === undefined
        : target?.group === group && target.kind === kind && versions.includes(target.version),
    allowsServerVersion: () => false,
  });
  return chosen && { encoding: withPretty(context, chosen), version: chosen.target?.version };
}

/** Encodings that need no messages. */
export function untyped(encodings: readonly Encoding[]): Encoding[] {
  return encodings.filter(({ typed }) => !typed);
}

function plainText(text: () => Buffer): Encoding {
  return {
    mediaType: "text/plain",
    alias: false,
    typed: false,
    grouped: false,
    whole: text,
    list: () => (function* () {})(),
  };
}
