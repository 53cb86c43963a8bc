/** Reads the comments in the type declarations of `@kubernetes/client-node`. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { clientFieldName, commentText, type DescriptionTexts } from "./description-texts.ts";

/**
 * Reads the descriptions of types and parameters.
 *
 * @param directory of the package's main module
 */
export async function readClientDescriptions(directory: string): Promise<DescriptionTexts> {
  return {
    types: await readTypes(join(directory, "gen/models")),
    parameters: await readParameters(join(directory, "gen/types/ObjectParamAPI.d.ts")),
  };
}

async function readTypes(directory: string): Promise<DescriptionTexts["types"]> {
  const types: Record<string, Record<string, string>> = {};
  for (const file of await readdir(directory)) {
    if (file.endsWith(".d.ts")) Object.assign(types, typesIn(await readFile(join(directory, file), "utf8")));
  }
  return types;
}

/**
 * A comment and the class or field after it, or a class without a comment.
 * Bounded: the declarations of an installed package.
 */
const commented =
  /\/\*\*\n((?:(?!\*\/)[\s\S])*)\*\/\n\s*(?:export declare class (\w+)|'([^']+)'\??:)|^export declare class (\w+)/gm;

function typesIn(text: string): Record<string, Record<string, string>> {
  const types: Record<string, Record<string, string>> = {};
  let fields: Record<string, string> = {};
  for (const [, comment = "", described, field, bare] of text.matchAll(commented)) {
    const description = plainText(comment);
    const type = described ?? bare;
    if (type !== undefined) {
      // The comment before a class without its own comment is the head of the file.
      fields = description === "" || description.includes("OpenAPI spec version:") ? {} : { "": description };
      types[type] = fields;
    } else {
      fields[clientFieldName(field as string)] = description;
    }
  }
  return types;
}

/**
 * The requests whose parameter comments are used for all requests of an operation, and for
 * connections.
 */
const topics: Readonly<Record<string, string>> = {
  CoreV1ApiListNamespacedConfigMapRequest: "list",
  CoreV1ApiReadNamespacedConfigMapRequest: "get",
  CoreV1ApiCreateNamespacedConfigMapRequest: "post",
  CoreV1ApiReplaceNamespacedConfigMapRequest: "put",
  CoreV1ApiPatchNamespacedConfigMapRequest: "patch",
  CoreV1ApiDeleteNamespacedConfigMapRequest: "delete",
  CoreV1ApiDeleteCollectionNamespacedConfigMapRequest: "deletecollection",
  CoreV1ApiReadNamespacedPodLogRequest: "PodLog",
  CoreV1ApiConnectGetNamespacedPodAttachRequest: "PodAttach",
  CoreV1ApiConnectGetNamespacedPodExecRequest: "PodExec",
  CoreV1ApiConnectGetNamespacedPodPortforwardRequest: "PodPortforward",
  CoreV1ApiConnectGetNamespacedPodProxyRequest: "PodProxy",
  CoreV1ApiConnectGetNamespacedServiceProxyRequest: "ServiceProxy",
  CoreV1ApiConnectGetNodeProxyRequest: "NodeProxy",
};

async function readParameters(file: string): Promise<DescriptionTexts["parameters"]> {
  const text = await readFile(file, "utf8");
  const parameters: Record<string, Record<string, string>> = {};
  for (const [name, topic] of Object.entries(topics)) {
    const start = text.indexOf(`export interface ${name} {`);
    if (start < 0) continue;
    const body = text.slice(start, text.indexOf("\n}", start));
    // Bounded: one interface of an installed package.
    const described = [...body.matchAll(/\/\*\*\n((?:(?!\*\/)[\s\S])*)\*\/\n\s*(\w+)\??:/g)];
    const textOf = isConnection(topic) ? plainText : (comment: string) => inParagraphs(plainText(comment));
    parameters[topic] = Object.fromEntries(
      described.map(([, comment, parameter]) => [clientFieldName(parameter as string), textOf(comment as string)]),
    );
  }
  return parameters;
}

function isConnection(topic: string): boolean {
  return topic !== topic.toLowerCase();
}

/**
 * Restores line breaks, which the client has as blanks: one for a break, two for an empty line, before the blanks that
 * indent the next line. Two blanks within a sentence are its own.
 */
function inParagraphs(text: string): string {
  return (
    text
      .replace(
        /(?<=\S) {3,}(?=\S)/g,
        (blanks) => (blanks.length % 2 === 0 ? "\n\n" : "\n") + blanks.slice(-indent(blanks)),
      )
      // Bounded: as before.
      .replace(/(?<=^ {2}.*) - (?=`)/gm, "\n- ")
      // Bounded: as before.
      .replace(/(?<=\.|^ {2}.*\S) {2}(?=\S)/gm, "\n\n")
  );
}

/** @returns how many of the blanks indent the next line, an even number */
function indent({ length }: string): number {
  return length % 2 === 0 ? length - 2 : length - 1;
}

const entities: Readonly<Record<string, string>> = { "&#39;": "'", "&quot;": '"', "&#x60;": "`", "&#x3D;": "=" };

/** The text of a comment without the client's escapes. */
function plainText(comment: string): string {
  return commentText(comment)
    .replace(/&(?:#39|quot|#x60|#x3D);/g, (entity) => entities[entity] as string)
    .replace(/\\(.)/g, "$1");
}
