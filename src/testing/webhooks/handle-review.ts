/** Answers reviews by functions of a test. */
import { diffJson } from "../../lib/json/diff.ts";
import type { ReviewFunction, ReviewReply } from "./bridge.ts";
import type { AdmissionAnswer, AdmissionHandler, AdmissionRequest, ConversionHandler } from "./contract.ts";

/** A review, of which only one of the requests is sent. */
interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: AdmissionRequest & ConversionRequest;
}

interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly object[];
}

/** Answers AdmissionReviews. */
export function admissionFunction(handler: AdmissionHandler, isMutating: boolean): ReviewFunction {
  return async ({ body }) => {
    const { apiVersion, kind, request }: Review = JSON.parse(body.toString());
    const { object } = request;
    const original = isMutating ? structuredClone(object) : undefined;
    const answer = (await handler(request)) ?? {};
    checkAnswer(answer, isMutating);
    const patch = answer.patch ?? (answer.object === undefined ? [] : diffJson(original, plain(answer.object)));
    return reply({ apiVersion, kind, response: { uid: request.uid, ...admissionResponse(answer, patch) } });
  };
}

/** @throws TypeError, which the client sees in the error of its request */
function checkAnswer(answer: AdmissionAnswer, isMutating: boolean): void {
  if (typeof answer !== "object")
    throw new TypeError("the handler of a webhook must return an object, such as { denied: MESSAGE }, or nothing");
  if (!isMutating && (answer.object !== undefined || answer.patch !== undefined))
    throw new TypeError("a validating webhook cannot change the object");
}

function admissionResponse(answer: AdmissionAnswer, patch: readonly object[]): object {
  const { denied, code = 403, reason, warnings, auditAnnotations } = answer;
  return {
    allowed: denied === undefined,
    ...(denied !== undefined && { status: { message: denied, code, ...(reason !== undefined && { reason }) } }),
    ...(warnings !== undefined && { warnings }),
    ...(auditAnnotations !== undefined && { auditAnnotations }),
    ...(patch.length > 0 && {
      patchType: "JSONPatch",
      patch: Buffer.from(JSON.stringify(patch)).toString("base64"),
    }),
  };
}

/** Answers ConversionReviews, by a function that converts one object. */
export function conversionFunction(handler: ConversionHandler): ReviewFunction {
  return async ({ body }) => {
    const { apiVersion, kind, request }: Review = JSON.parse(body.toString());
    const { uid, desiredAPIVersion, objects } = request;
    try {
      const convertedObjects: unknown[] = [];
      for (const object of objects)
        convertedObjects.push({ ...(await handler(object, desiredAPIVersion)), apiVersion: desiredAPIVersion });
      return reply({ apiVersion, kind, response: { uid, result: { status: "Success" }, convertedObjects } });
    } catch (error) {
      const result = { status: "Failure", message: (error as Error).message };
      return reply({ apiVersion, kind, response: { uid, result, convertedObjects: [] } });
    }
  };
}

function reply(review: object): ReviewReply {
  return { status: 200, contentType: "application/json", body: JSON.stringify(review) };
}

/** As the server would read it: without undefined members, and dates as text. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
