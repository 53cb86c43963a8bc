/**
 * Converts objects by calling a webhook. The messages are upstream's.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/webhook_converter.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/converter.go
 */
import { randomUUID } from "node:crypto";
import { type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts";
import { inSpan, type SpanAttributes } from "../../../apimachinery/spans.ts";
import { ConversionError, type Converted } from "../../../catalog/converter.ts";
import { memberBytes } from "../../../lib/json/member.ts";
import { parseJson, peekTypeMeta, type TypeMeta } from "../../../lib/json/parse.ts";
import { type WebhookClient, WebhookError } from "../../../webhook/contract.ts";
import type { ConversionFailure, ConversionObserver } from "../../../webhook/conversion-observer.ts";
import { identityProblem, restoreMetadata } from "./converted-object.ts";
import { encodeReview, objectProblem, ReviewProblem, type ReviewRequest, readReview, reviewVersion } from "./review.ts";

/** The timeout of all of upstream's webhooks. */
const timeoutMs = 30_000;

interface WebhookConverterOptions {
  /** Name of the definition. */
  readonly name: string;
  readonly listKind: string;
  /** Whether the definition has the version. */
  readonly hasVersion: (apiVersion: string) => boolean;
  /** In order of preference. */
  readonly reviewVersions: readonly string[];
  /** @throws Error if the configuration in the definition is invalid */
  readonly client: () => WebhookClient;
  readonly observer: ConversionObserver;
}

/**
 * Converts objects of one kind.
 *
 * @param objects as JSON, none of them in the desired version
 * @param apiVersion the desired version
 * @returns new objects in the same order, with the original metadata except for labels and
 *   annotations
 * @throws ConversionError if the webhook fails or its response is invalid
 */
type ConvertByWebhook = (objects: readonly Buffer[], apiVersion: string, what: Converted) => Promise<KubeObject[]>;

/** Makes the converter of a definition. */
export function webhookConverter(options: WebhookConverterOptions): ConvertByWebhook {
  return async (objects, apiVersion, what) => {
    const originals = objects.map(originalOf);
    const startedAt = performance.now();
    const observe = (succeeded: boolean): void => {
      const from = versionOf(originals[0]?.apiVersion);
      options.observer.converted(options.name, from, versionOf(apiVersion), succeeded, performance.now() - startedAt);
    };
    try {
      const converted = await convert(options, { objects, originals, apiVersion, what });
      observe(true);
      return converted;
    } catch (error) {
      observe(false);
      throw error;
    }
  };
}

/** Reads the type and the metadata of an object, which are compared with the converted ones. */
function originalOf(json: Buffer): KubeObject {
  const { apiVersion, kind } = leadingTypeMeta(json) ?? peekTypeMeta(json);
  const metadata = memberBytes(json, metadataLabel);
  return {
    apiVersion,
    kind,
    metadata: metadata === undefined ? {} : (parseJson(metadata).value as KubeObject["metadata"]),
  };
}

/** Reads the type of an object with sorted keys, as most have, without parsing all of it. */
function leadingTypeMeta(json: Buffer): TypeMeta | undefined {
  const [, apiVersion, kind] =
    /^\{"apiVersion":"([^"\\]*)","kind":"([^"\\]*)",/.exec(json.toString("latin1", 0, leadingBytesMax)) ?? [];
  return apiVersion === undefined || kind === undefined ? undefined : { apiVersion, kind };
}

const leadingBytesMax = 512;

const metadataLabel = Buffer.from('"metadata":');

const versionOf = (apiVersion = ""): string => parseGroupVersion(apiVersion)?.version ?? "";

interface Conversion {
  readonly objects: readonly Buffer[];
  readonly originals: readonly KubeObject[];
  readonly apiVersion: string;
  readonly what: Converted;
}

async function convert(
  options: WebhookConverterOptions,
  { objects, originals, apiVersion, what }: Conversion,
): Promise<KubeObject[]> {
  const { hasVersion, listKind, observer } = options;
  if (!hasVersion(apiVersion))
    throw new ConversionError(`request to convert CR to an invalid group/version: ${apiVersion}`);
  const invalid = originals.find((original) => !hasVersion(original.apiVersion as string));
  if (invalid !== undefined)
    throw new ConversionError(`request to convert CR from an invalid group/version: ${invalid.apiVersion}`);
  const version = reviewVersion(options.reviewVersions);
  if (version === undefined) throw new ConversionError("no supported conversion review versions");
  const first = originals[0] as KubeObject;
  const webhookLabel = `conversion webhook for ${first.apiVersion}, Kind=${what === "list" ? listKind : first.kind}`;
  const startedAt = performance.now();
  try {
    const sent = await callWebhook(options, webhookLabel, {
      version,
      uid: randomUUID(),
      desiredApiVersion: apiVersion,
      objects,
    });
    if (sent.length !== objects.length)
      throw new ConversionProblem(
        "partial_response",
        `${webhookLabel} returned ${sent.length} objects, expected ${objects.length}`,
      );
    const place = (index: number): Place => ({ webhookLabel, index, what, apiVersion });
    const converted = sent.map((value, index) => checkConverted(value, originals[index] as KubeObject, place(index)));
    observer.called(undefined, performance.now() - startedAt);
    return converted;
  } catch (error) {
    if (!(error instanceof ConversionProblem)) throw error;
    observer.called(error.failure, performance.now() - startedAt);
    const { message } = error;
    throw new ConversionError(message.length > messageMax ? `${message.slice(0, messageMax)}...` : message);
  }
}

/** Characters of a message that contains the webhook's text; upstream has no limit. */
const messageMax = 32 << 10;

class ConversionProblem extends Error {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** Source: webhook_converter.go of k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion. */
function tracedCall({ name }: WebhookConverterOptions, { desiredApiVersion, objects, uid }: ReviewRequest) {
  const attributes = (): SpanAttributes => ({
    "custom-resource-definition": name,
    "desired-api-version": desiredApiVersion,
    "object-count": objects.length,
    UID: uid,
  });
  return { name: "Call conversion webhook", attributes, logMs: 50 + 8 * objects.length };
}

/** @throws ConversionProblem if the call fails or the response is invalid */
async function callWebhook(
  options: WebhookConverterOptions,
  webhookLabel: string,
  request: ReviewRequest,
): Promise<readonly unknown[]> {
  const client = clientOf(options);
  try {
    const answer = await inSpan(tracedCall(options, request), async (span) => {
      const received = await client.post(encodeReview(request), { timeoutMs });
      span?.addEvent("Request completed");
      return received;
    });
    return readReview(answer, request);
  } catch (error) {
    if (error instanceof WebhookError) throw new ConversionProblem("call", `${webhookLabel} failed: ${error.message}`);
    if (error instanceof ReviewProblem)
      throw new ConversionProblem("malformed_response", `${webhookLabel} failed: ${error.message}`);
    throw error;
  }
}

/** @throws ConversionError for an invalid configuration that the validation did not reject */
function clientOf({ client }: WebhookConverterOptions): WebhookClient {
  try {
    return client();
  } catch (error) {
    throw new ConversionError((error as Error).message);
  }
}

/** The position of an object in the response, for messages. */
interface Place {
  readonly webhookLabel: string;
  readonly index: number;
  readonly what: Converted;
  readonly apiVersion: string;
}

/** @throws ConversionProblem for an invalid converted object */
function checkConverted(
  value: unknown,
  original: KubeObject,
  { webhookLabel, index, what, apiVersion }: Place,
): KubeObject {
  const inList = what === "list";
  const reject = (message: string): never => {
    throw new ConversionProblem("invalid_converted_object", message);
  };
  const place = `${webhookLabel} returned invalid ${inList ? "converted object" : "object"} at index ${index}: `;
  const unreadable = objectProblem(value);
  if (unreadable !== undefined) reject(inList ? `${place}${unreadable}` : unreadable);
  const converted = value as Record<string, unknown>;
  const received = typeof converted.apiVersion === "string" ? converted.apiVersion : "";
  if (received !== apiVersion) reject(`${place}invalid groupVersion (expected ${apiVersion}, received ${received})`);
  if (converted.kind !== original.kind)
    reject(`${place}invalid kind (expected ${original.kind}, received ${converted.kind})`);
  const other = identityProblem(original, converted);
  if (other !== undefined) reject(inList ? `${place}${other}` : `${webhookLabel} returned invalid object: ${other}`);
  const metadata = restoreMetadata(original, converted);
  if (metadata !== undefined)
    reject(`${webhookLabel} returned invalid metadata${inList ? ` in object at index ${index}` : ""}: ${metadata}`);
  return converted as KubeObject;
}
