/**
 * Descriptions of types, fields and parameters: the comments of the installed packages
 * `kubernetes-models` and `@kubernetes/client-node`, which are generated from the published
 * documents. They are not part of this repository. A packed build has them in one file; without
 * either, documents have no descriptions.
 */
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { readDataFile } from "../apimachinery/data/data-file.ts";
import { clientFieldName, type DescriptionTexts } from "./description-texts.ts";

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

/** Loads the descriptions of a packed build, or else of the installed packages. */
export async function loadDescriptions(): Promise<Descriptions> {
  const packed = readDataFile("descriptions.json.br");
  if (packed !== undefined) {
    const json = await promisify(brotliDecompress)(packed);
    return descriptionsFrom(JSON.parse(json.toString()));
  }
  const { readInstalledDescriptions } = await import("./installed-descriptions.ts");
  return descriptionsFrom(await readInstalledDescriptions());
}

/** No descriptions at all. */
export const noDescriptions: Descriptions = descriptionsFrom({ types: {}, parameters: {} });

/** Creates the lookup of texts. */
export function descriptionsFrom({ types, parameters }: DescriptionTexts): Descriptions {
  const textOf = (names: readonly string[], field: string): string | undefined => {
    for (const name of names) {
      const text = find(Object.hasOwn(types, name) ? types[name] : undefined, field);
      if (text !== undefined) return text;
    }
    return undefined;
  };
  return {
    type: (definition) => textOf(typeNames(definition), ""),
    field: (definition, field) =>
      textOf([...typeNames(definition), modelName(atV1(definition))], clientFieldName(field)),
    parameter: (topic, name) => find(Object.hasOwn(parameters, topic) ? parameters[topic] : undefined, name),
  };
}

function find(texts: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return texts !== undefined && Object.hasOwn(texts, key) ? texts[key] : undefined;
}

/**
 * The names of a type in the packages. The client names a type by version and kind, with the group
 * as a prefix if that is ambiguous.
 */
function typeNames(definition: string): string[] {
  const [kind = "", version = "", group = ""] = definition.split(".").reverse();
  const plain = capitalize(version) + kind;
  return [modelName(definition), capitalize(group) + plain, plain];
}

/** `kubernetes-models` has few alpha and beta versions, whose fields mostly have the texts of v1. */
function atV1(definition: string): string {
  return [...definition.split(".").slice(0, -2), "v1", ...definition.split(".").slice(-1)].join(".");
}

/** The full name of a definition without dots and dashes: `IoK8sApiCoreV1Pod`. */
function modelName(definition: string): string {
  return definition.split(/[.-]/).map(capitalize).join("");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
