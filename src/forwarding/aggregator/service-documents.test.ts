import assert from "node:assert/strict";
import { test } from "node:test";
import { ServiceDocuments } from "./service-documents.ts";

const service = (name: string, port = 443) => ({ namespace: "default", name, port });

test("keeps the document of a Service while an APIService uses it", () => {
  const documents = new ServiceDocuments<string>();
  documents.set(service("a"), "unused");
  assert.equal(documents.get(service("a")), undefined);
  documents.use("v1", service("a"));
  documents.use("v2", service("a"));
  documents.use("v2", service("a"));
  documents.set(service("a"), "a");
  documents.forget("v1");
  documents.forget("v1");
  assert.deepEqual([documents.get(service("a")), documents.get(service("a", 444))], ["a", undefined]);
  documents.use("v2", service("b"));
  assert.equal(documents.get(service("a")), undefined, "its last user has another Service");
});
