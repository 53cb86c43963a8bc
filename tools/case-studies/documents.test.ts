import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { isEstablished, readDocuments } from "./documents.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-documents-"));
after(() => rmSync(directory, { recursive: true }));

test("reads files and folders, namespaces and definitions first", () => {
  mkdirSync(join(directory, "folder/inner"), { recursive: true });
  const object = (kind: string, name: string): string => `apiVersion: v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;
  writeFileSync(
    join(directory, "a.yaml"),
    `---\n${object("Secret", "a")}---\n# nothing\n---\n${object("Namespace", "b")}`,
  );
  writeFileSync(join(directory, "folder/inner/c.yaml"), object("CustomResourceDefinition", "c"));
  const documents = readDocuments([join(directory, "a.yaml"), join(directory, "folder")]);
  assert.deepEqual(
    documents.map(({ object: { kind, metadata } }) => `${kind} ${metadata.name}`),
    ["Namespace b", "CustomResourceDefinition c", "Secret a"],
  );
  assert.equal(documents[1]?.text, object("CustomResourceDefinition", "c"));
});

test("a definition is established when its condition says it", () => {
  assert.equal(isEstablished(undefined), false);
  assert.equal(isEstablished({ status: { conditions: [{ type: "Established", status: "False" }] } }), false);
  assert.equal(isEstablished({ status: { conditions: [{ type: "Established", status: "True" }] } }), true);
});
