/** Keys in JSON Patch paths. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/jsonpatch.go */
import { library } from "../../library.ts";
import { stringType } from "../../types.ts";
import { declare, overload } from "../declare.ts";
import { reading } from "./costs.ts";

function escapeKey(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** `jsonpatch.escapeKey(key)`, for mutating admission policies only. */
export const jsonPatchKeys = library({
  functions: [
    {
      ...declare(
        "jsonpatch.escapeKey",
        overload("string_jsonpatch_escapeKey_string", [stringType], stringType, { evaluate: escapeKey }),
      ),
      ...reading(1, { keepsSize: true }),
    },
  ],
});
