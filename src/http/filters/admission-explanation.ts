/**
 * Answers a dry run with what admission plugins, webhooks and policies did to it, if the client
 * requests that by a header. Users see only steps whose configurations and parameters they can get.
 */

import { badRequest } from "../../apimachinery/errors.ts";
import type { FindDenial } from "../../catalog/strategy-contract.ts";
import { explainHeader, type TracedObject, type TraceStep } from "../../request/admission-trace.ts";
import { send } from "../../request/answer.ts";
import type { Filter } from "../../request/context.ts";
import type { RequestContext } from "../contract.ts";

/** Steps of one request that are kept; more are only counted. */
const stepsMax = 2000;

const explainedVerbs: ReadonlySet<string> = new Set(["create", "update", "patch", "delete"]);

/**
 * Creates the filter. The response is `{ response: { status, body }, steps, hidden }`: the response
 * without an explanation, the steps that the user can see, and the number of the others. The filter
 * throws ApiError 400 for requests that are not dry runs of one write. It must run after
 * authorization.
 */
export function admissionExplanationFilter(findDenial: FindDenial): Filter<RequestContext> {
  return (context) => {
    const { info, exchange } = context;
    if (exchange.header(explainHeader) !== "admission") return;
    if (!info.isResourceRequest || !explainedVerbs.has(info.verb) || !info.query.getAll("dryRun").includes("All"))
      throw badRequest("admission can only be explained for creates, updates, patches and deletes with dryRun=All");
    const steps: TraceStep[] = [];
    let dropped = 0;
    const add = (step: TraceStep): void => {
      if (steps.length < stepsMax) steps.push(step);
      else dropped++;
    };
    context.explanation = {
      trace: { add },
      answer(status, contentType, body) {
        context.explanation = undefined;
        const json = contentType === "application/json" ? body.toString().trimEnd() : "null";
        const explain = (visible: readonly TraceStep[]): void => {
          const hidden = steps.length + dropped - visible.length;
          const text = `{"response":{"status":${status},"body":${json}},"steps":${JSON.stringify(visible)},"hidden":${hidden}}`;
          context.headers[explainHeader] = "admission";
          send(context, status, "application/json", Buffer.from(text));
        };
        visibleSteps(context, steps, findDenial).then(explain, () => explain([])); // No step without permission.
      },
    };
  };
}

async function visibleSteps(
  context: RequestContext,
  steps: readonly TraceStep[],
  findDenial: FindDenial,
): Promise<TraceStep[]> {
  const known = new Map<string, Promise<boolean>>();
  const canGet = (object: TracedObject): Promise<boolean> => {
    const key = JSON.stringify(object);
    const answer =
      known.get(key) ??
      findDenial({ ...object, user: context.user, verb: "get", subresource: "" }).then(
        (denial) => denial === undefined,
      );
    known.set(key, answer);
    return answer;
  };
  const visible = await Promise.all(
    steps.map(async ({ objects = [] }) => (await Promise.all(objects.map(canGet))).every(Boolean)),
  );
  return steps.filter((_, index) => visible[index]);
}
