/** ConversionReviews, v1 and v1beta1: what a webhook is asked, and what its answer says. Source: apiextensions-apiserver's webhook_converter.go */
import { encodeAny } from "../../../lib/json/encode-any.ts";
import { goKindOf } from "../../../lib/json/parse.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { decodeAnswer } from "../../../webhook/answer.ts";
import { type WebhookAnswer, WebhookError } from "../../../webhook/contract.ts";

const group = "apiextensions.k8s.io";
const kind = "ConversionReview";

export type ReviewVersion = "v1" | "v1beta1";

/** The first that this server speaks. @param versions of the definition, the best first */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === "v1" || version === "v1beta1");
}

export interface ReviewRequest {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly desiredApiVersion: string;
  /** As JSON. */
  readonly objects: readonly Buffer[];
}

export function encodeReview({ version, uid, desiredApiVersion, objects }: ReviewRequest): Buffer {
  const head = `{"kind":"${kind}","apiVersion":"${group}/${version}","request":{"uid":"${uid}","desiredAPIVersion":${JSON.stringify(desiredApiVersion)},"objects":[`;
  const parts: Buffer[] = [Buffer.from(head)];
  for (const [index, object] of objects.entries()) parts.push(index === 0 ? nothing : comma, object);
  return Buffer.concat([...parts, tail]);
}

const nothing = Buffer.alloc(0);
const comma = Buffer.from(",");
/** With the empty answer that upstream sends along. */
const tail = Buffer.from(']},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}\n');

/** An answer that is none. */
export class ReviewProblem extends Error {}

/**
 * The objects of an answer, as they were sent.
 * @throws WebhookError when there is no ConversionReview in it: the call failed
 * @throws ReviewProblem when there is one that is not good
 */
export function readReview(
  answer: WebhookAnswer,
  { version, uid }: Pick<ReviewRequest, "version" | "uid">,
): readonly unknown[] {
  const { typeMeta, value } = decodeAnswer(answer, { apiVersion: "", kind: "" });
  checkKind(typeMeta, version);
  const response = readResponse(value);
  // Of v1beta1, upstream looks neither at what it says it is nor at the uid.
  if (version === "v1" && typeMeta.kind === "")
    throw new ReviewProblem(`expected webhook response of ${group}/${version}, Kind=${kind}, got /, Kind=`);
  if (response === undefined) throw new ReviewProblem("no response provided");
  if (version === "v1" && response.uid !== uid)
    throw new ReviewProblem(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(response.uid)}`);
  if (response.status !== "Success")
    throw new ReviewProblem(response.message || `response.result.status was '${response.status}', not 'Success'`);
  return response.objects;
}

/** What upstream's scheme for webhooks knows, of both versions. */
const knownKinds: ReadonlySet<string> = new Set([kind, "CustomResourceDefinition", "CustomResourceDefinitionList"]);

/** @throws WebhookError */
function checkKind(
  { apiVersion, kind: given }: { readonly apiVersion: string; readonly kind: string },
  version: ReviewVersion,
): void {
  if (given === "" && apiVersion === "") return;
  const isKnown = (apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`) && knownKinds.has(given);
  if (!isKnown && !(apiVersion === "v1" && given === "Status"))
    throw new WebhookError(
      "malformed",
      `no kind ${quoteGo(given)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const goVersion = apiVersion.split("/").at(-1) as string;
  if (given !== kind || goVersion !== version)
    throw new WebhookError(
      "malformed",
      `converting (${goVersion}.${given}) to (${version}.${kind}): unknown conversion`,
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

/** An object that has no kind, or is none, as Go's decoder of any object tells it. */
export function objectProblem(value: unknown): string | undefined {
  if (value === null || value === undefined) return "unexpected end of JSON input";
  if (typeof value !== "object" || Array.isArray(value))
    return `json: cannot unmarshal ${goKindOf(value)} into Go value of type map[string]interface {}`;
  const { kind: given } = value as Record<string, unknown>;
  if (typeof given === "string" && given !== "") return undefined;
  const text = encodeAny(value);
  return `Object 'Kind' is missing in '${text.length > shownMax ? `${text.slice(0, shownMax)}...` : text}'`;
}

/** Of an object in a message; upstream shows all of it. */
const shownMax = 1024;
