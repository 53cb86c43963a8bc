/**
 * Decodes and verifies the responses of webhooks. Source:
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/request/admissionreview.go.
 */
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { TypeMeta } from "../../lib/json/parse.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { conform, DecodeError } from "../../lib/schema/decode.ts";
import { encodeValue } from "../../lib/schema/encode.ts";
import { decodeAnswer } from "../../webhook/answer.ts";
import { type WebhookAnswer, WebhookError } from "../../webhook/contract.ts";
import type { ReviewVersion } from "./contract.ts";
import type { SentStatus } from "./denial.ts";

/** A verified response. */
export interface ReviewResponse {
  readonly allowed: boolean;
  readonly result: SentStatus | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  /** The decoded base64; empty without a patch. */
  readonly patch: Buffer;
  readonly patchType: string;
}

/** The response is an AdmissionReview, but it is not valid. */
export class InvalidReview extends Error {}

/** What the server has sent. */
export interface SentReview {
  readonly version: ReviewVersion;
  readonly uid: string;
  /** Whether the webhook may send a patch. */
  readonly isMutating: boolean;
}

const group = "admission.k8s.io";
const kind = "AdmissionReview";

/**
 * Reads a response.
 *
 * @throws WebhookError if the response is not an AdmissionReview of the version
 * @throws InvalidReview
 */
export function readResponse(answer: WebhookAnswer, sent: SentReview): ReviewResponse {
  const { typeMeta, value } = decodeAnswer(answer, { apiVersion: "", kind: "" });
  checkKind(typeMeta, sent.version);
  const { response } = decode(value, sent.version);
  if (response === undefined) throw new InvalidReview("webhook response was absent");
  if (sent.version === "v1") verify(response, typeMeta, sent);
  const { allowed = false, status, warnings = [], auditAnnotations = {}, patch = "", patchType = "" } = response;
  return {
    allowed,
    result: status && ordered(status),
    warnings,
    auditAnnotations,
    patch: Buffer.from(sent.isMutating ? patch : "", "base64"),
    patchType: sent.version === "v1" ? patchType : "JSONPatch",
  };
}

/** The field `response` as decoded: without members that the schema lacks. */
interface DecodedResponse {
  readonly uid?: string;
  readonly allowed?: boolean;
  readonly status?: SentStatus;
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

const definitions = {
  v1: "io.k8s.api.admission.v1.AdmissionReview",
  v1beta1: "io.k8s.api.admission.v1beta1.AdmissionReview",
} as const;

/** @throws WebhookError */
function decode(
  value: Record<string, unknown> | null,
  version: ReviewVersion,
): { readonly response?: DecodedResponse } {
  try {
    return conform(value ?? {}, builtinSchema(definitions[version])).object;
  } catch (error) {
    if (error instanceof DecodeError) throw new WebhookError("malformed", error.message);
    throw error;
  }
}

/** A review without kind and apiVersion has those of the request. @throws WebhookError */
function checkKind({ apiVersion, kind: named }: TypeMeta, version: ReviewVersion): void {
  if (apiVersion === "" && (named === "" || named === kind)) return;
  const received = named === "" ? kind : named;
  const isKnown =
    ((apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`) && received === kind) ||
    (apiVersion === "v1" && received === "Status");
  if (!isKnown)
    throw new WebhookError(
      "malformed",
      `no kind ${quoteGo(received)} is registered for version ${quoteGo(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
    );
  const goVersion = apiVersion.split("/").at(-1) as string;
  if (received === kind && goVersion === version) return;
  throw new WebhookError(
    "malformed",
    `converting (${goVersion}.${received}) to (${version}.${kind}): unknown conversion`,
  );
}

/** Only responses of version v1 are verified. @throws InvalidReview */
function verify(response: DecodedResponse, typeMeta: TypeMeta, { uid, isMutating }: SentReview): void {
  const { uid: received = "", patch = "", patchType } = response;
  if (received !== uid) throw new InvalidReview(`expected response.uid=${quoteGo(uid)}, got ${quoteGo(received)}`);
  if (typeMeta.apiVersion !== `${group}/v1` || typeMeta.kind !== kind)
    throw new InvalidReview(`expected webhook response of ${group}/v1, Kind=${kind}, got ${goKind(typeMeta)}`);
  if (!isMutating) {
    if (patch !== "") throw new InvalidReview("validating webhook may not return response.patch");
    if (patchType !== undefined) throw new InvalidReview("validating webhook may not return response.patchType");
    return;
  }
  if (patch !== "" && patchType === undefined)
    throw new InvalidReview("webhook returned response.patch but not response.patchType");
  if (patch === "" && patchType !== undefined)
    throw new InvalidReview("webhook returned response.patchType but not response.patch");
  if (patchType === "") throw new InvalidReview('webhook returned invalid response.patchType of ""');
}

/** Formats a kind as Go does: `group/version, Kind=kind`. */
function goKind({ apiVersion, kind: named }: TypeMeta): string {
  return `${apiVersion.includes("/") ? apiVersion : `/${apiVersion}`}, Kind=${named}`;
}

/** The members in the order in which the server sends them. */
function ordered(status: SentStatus): SentStatus {
  return JSON.parse(encodeValue(status, builtinSchema("io.k8s.apimachinery.pkg.apis.meta.v1.Status"))) as SentStatus;
}
