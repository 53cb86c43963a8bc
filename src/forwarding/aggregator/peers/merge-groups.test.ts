import assert from "node:assert/strict";
import { test } from "node:test";
import type { GroupDocument } from "../discovery/documents.ts";
import { mergePeerGroups } from "./merge-groups.ts";

/** Parses `group/version:resource=verb,verb/sub+resource`. */
function parse(text: string): GroupDocument[] {
  const groups = new Map<string, Map<string, string[]>>();
  for (const one of text.split(" ").filter((part) => part !== "")) {
    const [groupVersion = "", resources = ""] = one.split(":");
    const [group = "", version = ""] = groupVersion.split("/");
    const versions = groups.get(group) ?? new Map();
    groups.set(group, versions.set(version, resources === "" ? [] : resources.split("+")));
  }
  return [...groups].map(([name, versions]) => ({
    metadata: { name },
    versions: [...versions].map(([version, resources]) => ({
      version,
      ...(resources.length > 0 && { resources: resources.map(resourceOf) }),
      freshness: "Current",
    })),
  }));
}

function resourceOf(text: string): { resource: string } {
  const [resource = "", verbs = "", subresource] = text.split(/[=/]/);
  return {
    resource,
    ...(verbs !== "" && { verbs: verbs.split(",") }),
    ...(subresource !== undefined && { subresources: [{ subresource, responseKind: {} }] }),
  };
}

const rows: [title: string, own: string, peers: Record<string, string>, want: string][] = [
  ["no peers", "b/v1:x=list a/v1:y=list", {}, "b/v1:x=list a/v1:y=list"],
  ["equal peers", "b/v1:x=list a/v1:y=list", { p: "b/v1:x=list a/v1:y=list" }, "b/v1:x=list a/v1:y=list"],
  ["another group", "b/v1:x=list", { p: "b/v1:x=list a/v1:y=list" }, "b/v1:x=list a/v1:y=list"],
  ["another version", "b/v1:x=list", { p: "b/v2:x=get b/v1:x=list" }, "b/v2:x=get b/v1:x=list"],
  ["another resource", "b/v1:x=list", { p: "b/v1:w=get+x=list" }, "b/v1:w=get+x=list"],
  ["other verbs, sorted", "b/v1:x=watch,list", { p: "b/v1:x=get" }, "b/v1:x=get,list,watch"],
  ["equal verbs, not sorted", "b/v1:x=watch,list", { p: "b/v1:x=watch,list" }, "b/v1:x=watch,list"],
  ["another subresource", "b/v1:x=list", { p: "b/v1:x=list/status" }, "b/v1:x=list/status"],
  ["groups that only this server has", "b/v1:x=list a/v1:y=list", { p: "" }, "b/v1:x=list a/v1:y=list"],
  ["orders that contradict each other, by identity", "b/v1 a/v1", { p: "a/v1 b/v1" }, "a/v1 b/v1"],
  ["a later identity", "b/v1 a/v1", { z: "a/v1 b/v1" }, "b/v1 a/v1"],
];
for (const [title, own, peers, want] of rows) {
  test(`merges discovery: ${title}`, () => {
    const parsed = new Map(Object.entries(peers).map(([identity, groups]) => [identity, parse(groups)]));
    assert.deepEqual(mergePeerGroups("q", parse(own), parsed), parse(want));
  });
}
