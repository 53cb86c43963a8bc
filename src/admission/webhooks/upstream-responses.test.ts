/**
 * Upstream's tests of responses and of denials, replayed.
 * `npm run golden admission-tests` records testdata/responses.jsonl again.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { readCalls } from "../../../test/support/recorded-admission.ts";
import type { ReviewVersion } from "./contract.ts";
import { denial, type SentStatus } from "./denial.ts";
import { InvalidReview, readResponse } from "./review-response.ts";

interface Response {
  readonly version: ReviewVersion | "";
  readonly uid: string;
  readonly mutating: boolean;
  readonly review: object;
  readonly accepted?: Accepted;
  readonly error?: string;
}

/** The fields of Go's AdmissionResponse; null where they are not set. */
interface Accepted {
  readonly AuditAnnotations: Readonly<Record<string, string>> | null;
  readonly Allowed: boolean;
  readonly Patch: string | null;
  readonly PatchType: string;
  readonly Result: SentStatus | null;
  readonly Warnings: readonly string[] | null;
}

type Call =
  | (Response & { readonly webhook?: undefined })
  | { readonly webhook: string; readonly result: SentStatus | null; readonly status: object };

function outcomeOf({ version, uid, mutating, review }: Response): Pick<Response, "accepted" | "error"> {
  const answer = {
    status: 200,
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify(review)),
  };
  try {
    const response = readResponse(answer, { version: version as ReviewVersion, uid, isMutating: mutating });
    const { auditAnnotations, allowed, patch, patchType, result, warnings } = response;
    return {
      accepted: {
        AuditAnnotations: Object.keys(auditAnnotations).length === 0 ? null : auditAnnotations,
        Allowed: allowed,
        Patch: patch.length === 0 ? null : patch.toString("base64"),
        PatchType: patch.length === 0 ? "" : patchType, // Nothing reads the type of no patch.
        Result: result ?? null,
        Warnings: warnings.length === 0 ? null : warnings,
      },
    };
  } catch (error) {
    if (error instanceof InvalidReview) return { error: error.message };
    throw error;
  }
}

/** Whether the client decodes the review, which upstream's tests create as Go values: its version is known. */
function isDecoded(call: Call): boolean {
  if (call.webhook !== undefined) return true;
  const { kind, apiVersion }: { kind?: string; apiVersion?: string } = call.review;
  const isTyped = kind === "AdmissionReview" && /^admission\.k8s\.io\/v1(?:beta1)?$/.test(apiVersion ?? "");
  return isTyped || (call.version === "v1beta1" && kind === undefined && apiVersion === undefined);
}

const calls = readCalls<Call>(join(import.meta.dirname, "testdata/responses.jsonl"));
const decoded = calls.filter(isDecoded);
for (const [index, call] of decoded.entries()) {
  if (call.webhook === undefined) {
    const { version, mutating, accepted, error } = call;
    const what = `${version} response to a ${mutating ? "mutating" : "validating"} webhook`;
    test(`${index}: ${error === undefined ? "accepts" : "rejects"} a ${what}`, () =>
      assert.deepEqual(outcomeOf(call), { ...(accepted && { accepted }), ...(error !== undefined && { error }) }));
  } else {
    const { webhook, result, status } = call;
    test(`${index}: denies with ${JSON.stringify(result)}`, () =>
      assert.deepEqual(
        { metadata: {}, status: "Failure", ...denial(webhook, result ?? undefined).status },
        { metadata: {}, ...status },
      ));
  }
}

test("few reviews are not decoded", () => assert.equal(calls.length - decoded.length, 4));
