/** What a study does with one server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../src/testing/eventually.ts";
import { cpuMsOf, residentMiB } from "../../test/support/processes.ts";
import { type Connection, openConnection } from "../differential/connection.ts";
import { moduleFolder } from "./build.ts";
import { applyOver, exchange, type Named, readOver, sendOver } from "./client.ts";
import type { Cost, Run, Stage, Study } from "./contract.ts";
import { isEstablished, readDocuments } from "./documents.ts";
import { countRequests, normalize } from "./normalize.ts";
import { openPrograms, type Programs } from "./programs.ts";
import { programUser, type ServerName, startStudyServer } from "./servers.ts";

const waits = { timeoutMs: 150_000, intervalMs: 500 };
/** Equal reads in a row after which objects are steady. */
const steadyReads = 6;

/** Runs a study with a new server. @param log a file for the output of the programs @throws Error when it fails */
export async function runStudy(study: Study, name: ServerName, log: string): Promise<Run> {
  const server = await startStudyServer(name);
  const directory = mkdtempSync(join(tmpdir(), "coxswain-study-files-"));
  const programs = openPrograms(study, server.program, directory);
  const started = Date.now();
  const used = costsOf(server.processes);
  const connection = openConnection(server.admin);
  try {
    const stage = openStage(study, connection, programs, directory);
    await study.run(stage);
    const costs = { ...difference(used, costsOf(server.processes)), ...costsOf(programs.processes()) };
    await programs.end();
    return {
      kept: stage.kept,
      requests: countRequests(server.audit(), programUser),
      costs,
      seconds: (Date.now() - started) / 1000,
    };
  } finally {
    await programs.end();
    writeFileSync(log, programs.output());
    connection.close();
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function costsOf(processes: Readonly<Record<string, number>>): Record<string, Cost> {
  return Object.fromEntries(
    Object.entries(processes).map(([name, pid]) => [
      name,
      { cpuSeconds: cpuMsOf(pid) / 1000, memoryMiB: residentMiB(pid, "VmHWM") },
    ]),
  );
}

function difference(before: Readonly<Record<string, Cost>>, after: Readonly<Record<string, Cost>>): typeof after {
  return Object.fromEntries(
    Object.entries(after).map(([name, cost]) => [
      name,
      { ...cost, cpuSeconds: cost.cpuSeconds - (before[name]?.cpuSeconds ?? 0) },
    ]),
  );
}

function openStage(
  study: Study,
  connection: Connection,
  programs: Programs,
  directory: string,
): Stage & { readonly kept: Record<string, unknown> } {
  const kept: Record<string, unknown> = {};
  const until: Stage["until"] = async (what, path, holds) => {
    let last: unknown;
    let ended: Error | undefined;
    const check = async (): Promise<boolean> => {
      try {
        programs.check();
      } catch (error) {
        ended = error as Error;
        return true;
      }
      last = await readOver(connection, path);
      return holds(last);
    };
    await eventually(check, waits).catch((error: unknown) => {
      throw new Error(`never: ${what}: ${JSON.stringify(last)?.slice(0, 4_000)}`, { cause: error });
    });
    if (ended !== undefined) throw ended;
  };
  return {
    kept,
    directory,
    kubeconfig: programs.kubeconfig,
    path: (module, path) => join(moduleFolder(versioned(study, module)), path),
    apply: (object, subresource) => applyOver(connection, object as Named, JSON.stringify(object), subresource),
    send: (line, body) => sendOver(connection, line, body),
    start: programs.start,
    until,
    async ready(url) {
      await eventually(async () => {
        programs.check();
        return (await fetch(url)).ok;
      }, waits);
    },
    async answer(title, line, body) {
      kept[title] = normalize(await exchange(connection, line, body), study);
    },
    record(title, value) {
      kept[title] = normalize(value, study);
    },
    async install(...files) {
      for (const { object, text } of readDocuments(files)) {
        await applyOver(connection, object, text);
        if (object.kind !== "CustomResourceDefinition") continue;
        const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${object.metadata.name}`;
        await until(`${object.metadata.name} is established`, path, isEstablished);
      }
    },
    async keep(title, ...paths) {
      let [last, equal] = ["", 0];
      for (const path of paths) {
        await until(`${path} is steady`, path, (body) => {
          const text = JSON.stringify(body?.items ?? body);
          equal = text === last ? equal + 1 : 0;
          last = text;
          return equal >= steadyReads;
        });
        kept[`${title}: ${path}`] = normalize(JSON.parse(last), study);
      }
    },
  };
}

function versioned({ module, more = [] }: Study, name: string): string {
  const found = [module, ...more].find((one) => one.startsWith(`${name}@`));
  if (found === undefined) throw new Error(`the study has no module ${name}`);
  return found;
}
