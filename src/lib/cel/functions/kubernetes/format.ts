/** Named string formats. Source: k8s.io/apiserver@v0.36.0/pkg/cel/library/format.go */
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../../names/names.ts";
import { findFormat } from "../../../structural-schema/formats/formats.ts";
import { sizeOrUnknown } from "../../cost/estimate.ts";
import { timesFactor } from "../../cost/range.ts";
import type { FunctionDeclaration } from "../../declarations.ts";
import { library } from "../../library.ts";
import { type CelType, listType, opaqueType, optionalType, stringType } from "../../types.ts";
import { sizeOf, TextList } from "../../values/containers.ts";
import { noSuchOverload } from "../../values/failure.ts";
import { CelOpaque, CelOptional, type CelValue, type Equality, optionalNone } from "../../values/value.ts";
import { regexFactor, traversalFactor } from "../costs.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal } from "./costs.ts";
import { findRequestUriError } from "./url.ts";

/** The type of `format.dns1123Label()`. */
export const formatType = opaqueType("kubernetes.NamedFormat");

interface NamedFormat {
  readonly name: string;
  readonly problems: (text: string) => readonly string[];
  /** The characters of a regular expression with the same cost. */
  readonly regexSize: number;
}

class CelFormat extends CelOpaque {
  readonly format: NamedFormat;
  constructor(format: NamedFormat) {
    super();
    this.format = format;
  }
  get type(): CelType {
    return formatType;
  }
  equals(other: CelValue): Equality {
    return other instanceof CelFormat ? other.format.name === this.format.name : noSuchOverload();
  }
  toString(): string {
    return this.format.name;
  }
}

/** A format that schemas have too. */
function schemaFormat(name: string, problem: string): (text: string) => readonly string[] {
  const isValid = findFormat(name) as (text: string) => boolean;
  return (text) => (isValid(text) ? [] : [problem]);
}

function uriProblems(text: string): readonly string[] {
  const error = findRequestUriError(text);
  return error === undefined ? [] : [error];
}

/**
 * The size of the regular expression for date-times in Kubernetes, which it also uses for dates.
 */
const dateTimeSize = 71;

const formats: readonly [functionName: string, name: string, problems: NamedFormat["problems"], regexSize: number][] = [
  ["dns1123Label", "DNS1123Label", (text) => dnsLabelProblems(text), 30],
  ["dns1123Subdomain", "DNS1123Subdomain", (text) => dnsSubdomainProblems(text), 60],
  ["dns1035Label", "DNS1035Label", (text) => dns1035LabelProblems(text), 30],
  ["qualifiedName", "QualifiedName", qualifiedNameProblems, 60],
  ["dns1123LabelPrefix", "DNS1123LabelPrefix", (text) => dnsLabelProblems(text, true), 30],
  ["dns1123SubdomainPrefix", "DNS1123SubdomainPrefix", (text) => dnsSubdomainProblems(text, true), 60],
  ["dns1035LabelPrefix", "DNS1035LabelPrefix", (text) => dns1035LabelProblems(text, true), 30],
  ["labelValue", "LabelValue", labelValueProblems, 40],
  ["uri", "URI", uriProblems, 1103],
  ["uuid", "uuid", schemaFormat("uuid", "does not match the UUID format"), 70],
  ["byte", "byte", schemaFormat("byte", "invalid base64"), 84],
  ["date", "date", schemaFormat("date", "invalid date"), dateTimeSize],
  ["datetime", "datetime", schemaFormat("datetime", "invalid datetime"), dateTimeSize],
];

const named = new Map(
  formats.map(([functionName, name, problems, regexSize]) => [
    functionName,
    new CelFormat({ name, problems, regexSize }),
  ]),
);

/** Returns the problems of a text, or `optional.none()` for a valid text. */
function validate({ format }: CelFormat, text: string): CelOptional {
  const problems = format.problems(text);
  return problems.length === 0 ? optionalNone : new CelOptional(new TextList(problems));
}

const validating: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: ([format, text]) => {
    if (!(format instanceof CelFormat)) return 1;
    return Math.ceil((1 + sizeOf(text)) * traversalFactor) * Math.ceil(format.format.regexSize * regexFactor);
  },
  estimate: ({ args }) => ({
    cost: timesFactor(timesFactor(sizeOrUnknown(args[0]), traversalFactor), 128 * regexFactor),
  }),
};

/** `format.named`, functions such as `format.uri`, and `validate`. Requires `optionalTypes`. */
export const kubernetesFormats = library({
  functions: [
    {
      ...declare(
        "validate",
        member("format-validate", [formatType, stringType], optionalType(listType(stringType)), { evaluate: validate }),
      ),
      ...validating,
    },
    {
      ...declare(
        "format.named",
        overload("format-named", [stringType], optionalType(formatType), {
          evaluate: (name: string) => (named.has(name) ? new CelOptional(named.get(name)) : optionalNone),
        }),
      ),
      ...nominal,
    },
    ...[...named].map(([name, format]) =>
      declare(`format.${name}`, overload(`format.${name}`, [], formatType, { evaluate: () => format })),
    ),
  ],
});
