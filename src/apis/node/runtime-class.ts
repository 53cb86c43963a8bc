/** RuntimeClass: what runs the containers of a pod. Source: kubernetes' pkg/apis/node, registry/node/runtimeclass. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { addInvalid, validateLabels, validateMetaAgain, validateMetaChangesAgain } from "../../api/validation/metadata.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { strategy } from "../../resource/strategy.ts";
import { nodeLabelAdvice } from "../deprecated-node-labels.ts";
import { checkImmutable } from "../fields.ts";

export const runtimeClass = strategy({
  isolatesStatus: false,
  repeatsMetaRules: false,
  validate,
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems, custom: true }, errors);
    validate(next, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors, true);
    checkImmutable(next.handler ?? "", old.handler ?? "", "handler", errors);
  },
  warnings({ scheduling }) {
    const advice = Object.keys(scheduling?.nodeSelector ?? {})
      .sort()
      .flatMap((key) => nodeLabelAdvice(key) ?? []);
    return advice.map((text) => `scheduling.nodeSelector: ${text}`);
  },
});

function validate({ handler = "", scheduling }: KubeObject, errors: FieldErrors): void {
  if (handler === "") errors.required("handler");
  else addInvalid(errors, "handler", handler, dnsLabelProblems(handler));
  if (scheduling?.nodeSelector !== undefined) validateLabels(scheduling.nodeSelector, "scheduling.nodeSelector", errors);
}
