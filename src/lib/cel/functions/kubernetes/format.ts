/** Named formats of texts. Source: k8s.io/apiserver pkg/cel/library/format.go */
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
import { ArrayList, sizeOf } from "../../values/containers.ts";
import { CelOpaque, CelOptional, optionalNone } from "../../values/value.ts";
import { regexFactor, traversalFactor } from "../costs.ts";
import { declare, member, overload } from "../declare.ts";
import { nominal } from "./costs.ts";
import { whyNoRequestUri } from "./url.ts";

export const formatType = opaqueType("kubernetes.NamedFormat");

interface NamedFormat {
  readonly name: string;
  readonly problems: (text: string) => readonly string[];
  /** Characters of the regular expression that it is charged as. */
  readonly regexSize: number;
}

export class CelFormat extends CelOpaque {
  readonly format: NamedFormat;
  constructor(format: NamedFormat) {
    super();
    this.format = format;
  }
  get type(): CelType {
    return formatType;
  }
  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.format.name === this.format.name;
  }
  toString(): string {
    return this.format.name;
  }
}

/** One of those that schemas have. */
function schemaFormat(name: string, problem: string): (text: string) => readonly string[] {
  const isRight = findFormat(name) as (text: string) => boolean;
  return (text) => (isRight(text) ? [] : [problem]);
}

function uriProblems(text: string): readonly string[] {
  const why = whyNoRequestUri(text);
  return why === undefined ? [] : [why];
}

/** The size of upstream's expression for the time of day, which it takes for dates, too. */
const dateTimeSize = 71;

const formats: readonly [called: string, name: string, problems: NamedFormat["problems"], regexSize: number][] = [
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
  formats.map(([called, name, problems, regexSize]) => [called, new CelFormat({ name, problems, regexSize })]),
);

/** What is wrong with a text; none when nothing is. */
function validate({ format }: CelFormat, text: string): CelOptional {
  const problems = format.problems(text);
  return problems.length === 0 ? optionalNone : new CelOptional(new ArrayList(problems));
}

const validating: Pick<FunctionDeclaration, "cost" | "estimate"> = {
  cost: ([format, text]) => {
    const regexSize = format instanceof CelFormat ? format.format.regexSize : 0;
    return Math.ceil((1 + sizeOf(text)) * traversalFactor) * Math.ceil(regexSize * regexFactor);
  },
  estimate: ({ args }) => ({
    cost: timesFactor(timesFactor(sizeOrUnknown(args[0]), traversalFactor), 128 * regexFactor),
  }),
};

/** Needs optional types. */
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
