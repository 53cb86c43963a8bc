/**
 * Validates values by the schema of their CustomResourceDefinition.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/validation/validation.go
 */

import { encodeSorted } from "../../json/encode-any.ts";
import { GoPrinted } from "../../json/go-value.ts";
import { quoteGo } from "../../json/quote.ts";
import type { Correlation } from "../correlation.ts";
import type { ErrorSink } from "../error-sink.ts";
import type { JsonSchemaProps } from "../json-schema-props.ts";
import { sortKeys } from "../sort-keys.ts";
import { childPath } from "../structural-schema.ts";
import { compileAccepts } from "./accepts.ts";
import { explain, type ValueError } from "./explain.ts";
import { type ValueOrigin, ValueSchema } from "./value-schema.ts";

/** Validates values by one schema. */
export interface ValueValidator {
  /** Validates a value that is new, or whose old state does not matter. */
  validate(value: unknown, path: string, errors: ErrorSink): void;
  /** Validates a changed value, and ignores errors in parts that did not change (KEP-4008). */
  validateUpdate(correlation: Correlation, path: string, errors: ErrorSink): void;
}

/**
 * Creates a validator. It compiles patterns and reads parts of the schema when values first use
 * them.
 * @param origin where the values come from
 */
export function valueValidator(source: JsonSchemaProps, origin: ValueOrigin = "request"): ValueValidator {
  const schema = new ValueSchema(source, origin);
  let accepts: ((value: unknown) => boolean) | undefined;
  const isAccepted = (value: unknown): boolean => {
    accepts ??= compileAccepts(schema);
    return accepts(value);
  };
  return {
    validate(value, path, errors) {
      if (!isAccepted(value)) report(explain(value, schema, undefined), path, errors);
    },
    validateUpdate(correlation, path, errors) {
      if (!isAccepted(correlation.value)) report(explain(correlation.value, schema, correlation), path, errors);
    },
  };
}

/** The text that upstream prints for a missing path. */
const noPath = "<nil>";

function report(found: readonly ValueError[], base: string, errors: ErrorSink): void {
  for (const error of found) {
    if (errors.full) return;
    const within = error.path === "." ? "" : error.path.replace(/^\./, "");
    const path = within === "" ? base || noPath : childPath(base, within);
    switch (error.kind) {
      case "required":
        errors.required(path);
        break;
      case "enum":
        errors.notSupported(path, shownValue(error.value), (error.allowed ?? []).map(textOf));
        break;
      case "tooLong":
        errors.tooLong(path, error.limit ?? -1);
        break;
      case "tooMany":
        errors.tooMany(path, error.value as number, error.limit ?? -1);
        break;
      case "type":
        errors.typeInvalid(path, error.value, error.message);
        break;
      case "invalid":
      case "general":
        errors.invalid(path, error.value, error.message);
    }
  }
}

/** Values without a schema are texts of Go's type `string`, which messages show like `%q`. */
function shownValue(value: unknown): unknown {
  return typeof value === "string" ? new GoPrinted(quoteGo(value)) : sortKeys(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : encodeSorted(value);
}
