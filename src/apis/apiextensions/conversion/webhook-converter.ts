/** Brings objects to another version by asking a webhook. Source: apiextensions-apiserver's webhook_converter.go and converter.go, whose texts these are */
import { randomUUID } from "node:crypto";
import { type KubeObject, parseGroupVersion } from "../../../apimachinery/object.ts";
import { ConversionError, type Converted } from "../../../catalog/converter.ts";
import { memberBytes } from "../../../lib/json/member.ts";
import { parseJson, peekTypeMeta, type TypeMeta } from "../../../lib/json/parse.ts";
import { type WebhookClient, WebhookError } from "../../../webhook/contract.ts";
import type { ConversionFailure, ConversionObserver } from "./contract.ts";
import { identityProblem, restoreMetadata } from "./converted-object.ts";
import { encodeReview, objectProblem, ReviewProblem, type ReviewRequest, readReview, reviewVersion } from "./review.ts";

/** Of a call, as of every webhook of upstream's. */
const timeoutMs = 30_000;

export interface WebhookConverterOptions {
  /** Of the definition. */
  readonly name: string;
  readonly listKind: string;
  /** Whether the definition has such a version. */
  readonly hasVersion: (apiVersion: string) => boolean;
  /** The best first. */
  readonly reviewVersions: readonly string[];
  /** @throws Error when none can be made of what the definition says */
  readonly client: () => WebhookClient;
  readonly observer: ConversionObserver;
}

/**
 * @param objects as JSON, of one kind, none of them at the wanted version
 * @returns their metadata is the original's but for labels and annotations; in their order, the caller's
 * @throws ConversionError
 */
export type ConvertByWebhook = (
  objects: readonly Buffer[],
  apiVersion: string,
  what: Converted,
) => Promise<KubeObject[]>;

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

/** What must be known of an object beforehand: what it is, and its metadata. */
function originalOf(json: Buffer): KubeObject {
  const { apiVersion, kind } = leadingTypeMeta(json) ?? peekTypeMeta(json);
  const metadata = memberBytes(json, metadataLabel);
  return {
    apiVersion,
    kind,
    metadata: metadata === undefined ? {} : (parseJson(metadata).value as KubeObject["metadata"]),
  };
}

/** As sorted keys have it, in most objects: the whole need not be parsed. */
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
  const stranger = originals.find((original) => !hasVersion(original.apiVersion as string));
  if (stranger !== undefined)
    throw new ConversionError(`request to convert CR from an invalid group/version: ${stranger.apiVersion}`);
  const version = reviewVersion(options.reviewVersions);
  if (version === undefined) throw new ConversionError("no supported conversion review versions");
  const first = originals[0] as KubeObject;
  const who = `conversion webhook for ${first.apiVersion}, Kind=${what === "list" ? listKind : first.kind}`;
  const startedAt = performance.now();
  try {
    const sent = await ask(options, who, { version, uid: randomUUID(), desiredApiVersion: apiVersion, objects });
    if (sent.length !== objects.length)
      throw new ConversionProblem(
        "partial_response",
        `${who} returned ${sent.length} objects, expected ${objects.length}`,
      );
    const place = (index: number): Place => ({ who, index, what, apiVersion });
    const converted = sent.map((value, index) => accepted(value, originals[index] as KubeObject, place(index)));
    observer.called(undefined, performance.now() - startedAt);
    return converted;
  } catch (error) {
    if (!(error instanceof ConversionProblem)) throw error;
    observer.called(error.failure, performance.now() - startedAt);
    const { message } = error;
    throw new ConversionError(message.length > messageMax ? `${message.slice(0, messageMax)}...` : message);
  }
}

/** Of what a webhook says; upstream has no limit. */
const messageMax = 32 << 10;

class ConversionProblem extends Error {
  readonly failure: ConversionFailure;

  constructor(failure: ConversionFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** @throws ConversionProblem */
async function ask(options: WebhookConverterOptions, who: string, request: ReviewRequest): Promise<readonly unknown[]> {
  const client = clientOf(options);
  try {
    return readReview(await client.post(encodeReview(request), { timeoutMs }), request);
  } catch (error) {
    if (error instanceof WebhookError) throw new ConversionProblem("call", `${who} failed: ${error.message}`);
    if (error instanceof ReviewProblem)
      throw new ConversionProblem("malformed_response", `${who} failed: ${error.message}`);
    throw error;
  }
}

/** @throws ApiError 500 where what the definition says is no good; validation has let it pass, or did not see it */
function clientOf({ client }: WebhookConverterOptions): WebhookClient {
  try {
    return client();
  } catch (error) {
    throw new ConversionError((error as Error).message);
  }
}

/** Where an object stands in the answer, for messages. */
interface Place {
  readonly who: string;
  readonly index: number;
  readonly what: Converted;
  readonly apiVersion: string;
}

/** @throws ConversionProblem */
function accepted(value: unknown, original: KubeObject, { who, index, what, apiVersion }: Place): KubeObject {
  const inList = what === "list";
  const refuse = (message: string): never => {
    throw new ConversionProblem("invalid_converted_object", message);
  };
  const place = `${who} returned invalid ${inList ? "converted object" : "object"} at index ${index}: `;
  const unreadable = objectProblem(value);
  if (unreadable !== undefined) refuse(inList ? `${place}${unreadable}` : unreadable);
  const converted = value as Record<string, unknown>;
  const given = typeof converted.apiVersion === "string" ? converted.apiVersion : "";
  if (given !== apiVersion) refuse(`${place}invalid groupVersion (expected ${apiVersion}, received ${given})`);
  if (converted.kind !== original.kind)
    refuse(`${place}invalid kind (expected ${original.kind}, received ${converted.kind})`);
  const other = identityProblem(original, converted);
  if (other !== undefined) refuse(inList ? `${place}${other}` : `${who} returned invalid object: ${other}`);
  const metadata = restoreMetadata(original, converted);
  if (metadata !== undefined)
    refuse(`${who} returned invalid metadata${inList ? ` in object at index ${index}` : ""}: ${metadata}`);
  return converted as KubeObject;
}
