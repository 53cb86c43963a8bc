/**
 * Encodes and decodes ConversionReviews, v1 and v1beta1.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/conversion/webhook_converter.go
 */
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { goKindOf } from "../../../lib/json/parse.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { decodeAnswer } from "../../../webhook/answer.ts";
import { type WebhookAnswer, WebhookError } from "../../../webhook/contract.ts";

const group = "apiextensions.k8s.io";
const kind = "ConversionReview";

type ReviewVersion = "v1" | "v1beta1";

/**
 * @param versions of the definition, in order of preference
 * @returns the first version that the server supports
 */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");
}

/** The request of a ConversionReview. */
export interface ReviewRequest {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly desiredApiVersion: string;
  /** As JSON. */
  readonly objects: readonly Buffer[];
}

/** @returns JSON that contains the objects as they are */
export function encodeReview({ version, uid, desiredApiVersion, objects }: ReviewRequest): Buffer {
  const head = `{"kind":"${kind}","apiVersion":"${group}/${version}","request":{"uid":"${uid}","desiredAPIVersion":${JSON.stringify(desiredApiVersion)},"objects":[`;
  const parts: Buffer[] = [Buffer.from(head)];
  for (const [index, object] of objects.entries()) parts.push(index === 0 ? nothing : comma, object);
  return Buffer.concat([...parts, tail]);
}

const nothing = Buffer.alloc(0);
const comma = Buffer.from(",");
/** Includes the empty response that upstream sends. */
const tail = Buffer.from(']},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}\n');

/** The response is a ConversionReview, but it is invalid or reports a failure. */
export class ReviewProblem extends Error {}

/**
 * Reads the objects of a response, without checking them.
 *
 * @throws WebhookError if the response contains no ConversionReview
 * @throws ReviewProblem if the ConversionReview is invalid or reports a failure
 */
export function readReview(
  answer: WebhookAnswer,
  { version, uid }: Pick<ReviewRequest, "version" | "uid">,
): readonly unknown[] {
  const { typeMeta, value } = decodeAnswer(answer, { apiVersion: "", kind: "" });
  checkKind(typeMeta, version);
  const response = readResponse(value);
  // For v1beta1, upstream checks neither the kind nor the uid.
  if (version === "v1" && typeMeta.kind === "")
    throw new ReviewProblem(`expected webhook response of ${group}/${version}, Kind=${kind}, got /, Kind=`);
  if (response === undefined) throw new ReviewProblem("no response provided");
  if (version === "v1" && response.uid !== uid)
    throw new ReviewProblem(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(response.uid)}`);
  if (response.status !== "Success")
    throw new ReviewProblem(response.message || `response.result.status was '${response.status}', not 'Success'`);
  return response.objects;
}

/** The kinds in upstream's scheme for webhooks, in both versions. */
const knownKinds: ReadonlySet<string> = new Set([kind, "CustomResourceDefinition", "CustomResourceDefinitionList"]);

/** @throws WebhookError for another kind or version */
function checkKind(
  { apiVersion, kind: received }: { readonly apiVersion: string; readonly kind: string },
  version: ReviewVersion,
): void {
  if (received === "" && apiVersion === "") return;
  const isKnown = (apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`) && knownKinds.has(received);
  if (!isKnown && !(apiVersion === "v1" && received === "Status"))
    throw new WebhookError(
      "malformed",
      `no kind ${quoteGo(received)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const goVersion = apiVersion.split("/").at(-1) as string;
  if (received !== kind || goVersion !== version)
    throw new WebhookError(
      "malformed",
      `converting (${goVersion}.${received}) to (${version}.${kind}): unknown conversion`,
    );
}

interface Response {
  readonly uid: string;
  readonly status: string;
  readonly message: string;
  readonly objects: readonly unknown[];
}

function readResponse({ response }: Record<string, unknown>): Response | undefined {
  if (response === undefined || response === null) return undefined;
  const members = membersOf(response, "ConversionReview.response", "v1.ConversionResponse");
  const uid = textOf(members.uid, "ConversionResponse.response.uid", "types.UID");
  const objects = members.convertedObjects ?? [];
  if (!Array.isArray(objects))
    throw wrongType(objects, "ConversionResponse.response.convertedObjects", "[]runtime.RawExtension");
  const result = membersOf(members.result ?? {}, "ConversionResponse.response.result", "v1.Status");
  const status = textOf(result.status, "Status.response.result.status", "string");
  const message = textOf(result.message, "Status.response.result.message", "string");
  return { uid, status, message, objects };
}

function membersOf(value: unknown, field: string, type: string): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrongType(value, field, type);
  return value as Record<string, unknown>;
}

function textOf(value: unknown, field: string, type: string): string {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw wrongType(value, field, type);
  return value;
}

function wrongType(value: unknown, field: string, type: string): WebhookError {
  return new WebhookError(
    "malformed",
    `json: cannot unmarshal ${goKindOf(value)} into Go struct field ${field} of type ${type}`,
  );
}

/** @returns the message of Go's decoder for a value that is not an object or has no kind */
export function objectProblem(value: unknown): string | undefined {
  if (value === null || value === undefined) return "unexpected end of JSON input";
  if (typeof value !== "object" || Array.isArray(value))
    return `json: cannot unmarshal ${goKindOf(value)} into Go value of type map[string]interface {}`;
  const { kind: received } = value as Record<string, unknown>;
  if (typeof received === "string" && received !== "") return undefined;
  const text = encodeAny(value);
  return `Object 'Kind' is missing in '${text.length > shownMax ? `${text.slice(0, shownMax)}...` : text}'`;
}

/** Characters of an object in a message; upstream has no limit. */
const shownMax = 1024;
