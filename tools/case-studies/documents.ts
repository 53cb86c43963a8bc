/** The objects of YAML files, in an order in which a server accepts them. */
import { globSync, readFileSync, statSync } from "node:fs";
import { decodeYaml } from "../../src/lib/yaml/decode.ts";
import type { Named } from "./client.ts";
import type { Body } from "./contract.ts";

export interface Document {
  readonly object: Named;
  readonly text: string;
}

/** @param paths of files, and of folders with files */
export function readDocuments(paths: readonly string[]): readonly Document[] {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.yaml`).sort() : path));
  return inOrder(files.flatMap((file) => documentsOf(readFileSync(file, "utf8"))));
}

function documentsOf(file: string): Document[] {
  return file.split(/^---.*$/m).flatMap((text) => {
    const { value } = decodeYaml(Buffer.from(text));
    return value === null ? [] : [{ object: value as Named, text }];
  });
}

const first = ["Namespace", "CustomResourceDefinition"];

function inOrder(documents: readonly Document[]): readonly Document[] {
  const isFirst = ({ object }: Document): boolean => first.includes(object.kind);
  return [...documents.filter(isFirst), ...documents.filter((one) => !isFirst(one))];
}

/** @param definition undefined when there is none */
export function isEstablished(definition: Body): boolean {
  const conditions: readonly Body[] = definition?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
}
