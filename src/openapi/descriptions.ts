/**
 * Descriptions of types, fields and parameters: the comments of the installed
 * `@kubernetes/client-node`, which is generated from the published documents. They are not part of
 * this repository. A packed build has them in one file; without either, documents have no
 * descriptions.
 */
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { readDataFile } from "../data/data-file.ts";
import { clientFieldName } from "./client-field-name.ts";

/** Finds descriptions; each function returns undefined if there is none. */
export interface Descriptions {
  /** @param definition OpenAPI name, such as `io.k8s.api.core.v1.Pod` */
  type(definition: string): string | undefined;
  field(definition: string, field: string): string | undefined;
  /**
   * @param topic the operation a query parameter belongs to: `list`, `patch` … or, for connections,
   *   `PodExec` …
   */
  parameter(topic: string, name: string): string | undefined;
}

/**
 * Descriptions by the client's names of types (`V1Pod`); the empty field name is that of the type
 * itself.
 */
export interface DescriptionTexts {
  readonly types: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly parameters: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Loads the descriptions of a packed build, or else of the installed client. */
export async function loadDescriptions(): Promise<Descriptions> {
  const packed = readDataFile("descriptions.json.br");
  if (packed !== undefined) {
    const json = await promisify(brotliDecompress)(packed);
    return descriptionsFrom(JSON.parse(json.toString()));
  }
  const { readClientDescriptions } = await import("./client-descriptions.ts");
  return descriptionsFrom(await readClientDescriptions());
}

/** No descriptions at all. */
export const noDescriptions: Descriptions = descriptionsFrom({ types: {}, parameters: {} });

/** Creates the lookup of texts. */
export function descriptionsFrom({ types, parameters }: DescriptionTexts): Descriptions {
  const textsOf = (definition: string): Readonly<Record<string, string>> | undefined => {
    const name = clientNames(definition).find((one) => Object.hasOwn(types, one));
    return name === undefined ? undefined : types[name];
  };
  return {
    type: (definition) => find(textsOf(definition), ""),
    field: (definition, field) => find(textsOf(definition), clientFieldName(field)),
    parameter: (topic, name) => find(Object.hasOwn(parameters, topic) ? parameters[topic] : undefined, name),
  };
}

function find(texts: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

/** The client names a type by version and kind, with the group as a prefix if that is ambiguous. */
function clientNames(definition: string): string[] {
  const [kind = "", version = "", group = ""] = definition.split(".").reverse();
  const plain = capitalize(version) + kind;
  return [capitalize(group) + plain, plain];
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
