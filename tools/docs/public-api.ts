/**
 * The public API: the types of each export of the package, rolled up into one file, and a report of
 * them for review. API Extractor writes both from the declarations that TypeScript emits.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..");

/** The exports of the package: names of the files in dist/ and api/, and their sources. */
const entries = {
  index: "src/index",
  cel: "src/lib/cel/public",
  "structured-merge": "src/lib/structured-merge/index",
  testing: "src/testing/index",
};

/** The parts of API Extractor that are used here. It is not installed with the project. */
interface ApiExtractor {
  readonly ExtractorConfig: { prepare(options: object): object };
  readonly CompilerState: { create(config: object, options: object): object };
  readonly Extractor: {
    invoke(config: object, options: object): { readonly succeeded: boolean; readonly apiReportChanged: boolean };
  };
}

interface Message {
  readonly logLevel: string;
  readonly messageId: string;
  readonly text: string;
  handled: boolean;
}

/** What API Extractor found. */
export interface PublicApi {
  /** Public types that users cannot name, and exports without docstrings. */
  readonly problems: readonly string[];
  /** The files in api/ that are not the report of the current public API. */
  readonly changedReports: readonly string[];
}

/**
 * Writes a file of types for each export.
 *
 * @param typesFolder where to write them
 * @param reports `update` also writes the reports in api/
 * @throws Error when the declarations cannot be emitted
 */
export function rollUpTypes(typesFolder: string, reports: "update" | "compare"): PublicApi {
  // Inside the repository, so that the declarations find the packages that they import.
  const work = mkdtempSync(join(import.meta.dirname, ".work-"));
  try {
    emitDeclarations(work);
    return extract(work, typesFolder, reports);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function emitDeclarations(folder: string): void {
  const compiler = join(root, "node_modules/.bin/tsc");
  const { status } = spawnSync(compiler, ["--project", "tsconfig.build.json", "--outDir", folder], {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`tsc ended with status ${status}`);
}

function extract(declarations: string, typesFolder: string, reports: "update" | "compare"): PublicApi {
  const { CompilerState, Extractor, ExtractorConfig } = createRequire(import.meta.url)(
    "@microsoft/api-extractor",
  ) as ApiExtractor;
  const configs = Object.entries(entries).map(([name, entry]) => {
    const file = join(declarations, `${entry}.d.ts`);
    const configObject = settings(declarations, file, name, typesFolder);
    const packageJsonFullPath = join(root, "package.json");
    return { name, file, config: ExtractorConfig.prepare({ configObject, packageJsonFullPath }) };
  });
  const [first, ...others] = configs as [(typeof configs)[0], ...typeof configs];
  const compilerState = CompilerState.create(first.config, { additionalEntryPoints: others.map(({ file }) => file) });
  const problems: string[] = [];
  const changedReports: string[] = [];
  for (const { name, config } of configs) {
    const messageCallback = (message: Message): void => {
      message.handled = true;
      if (message.logLevel === "error") problems.push(`${name}: ${message.text} (${message.messageId})`);
    };
    const localBuild = reports === "update";
    const result = Extractor.invoke(config, { localBuild, compilerState, messageCallback });
    if (result.apiReportChanged) changedReports.push(`api/${name}.api.md`);
    const types = withoutModuleComments(readFileSync(join(typesFolder, `${name}.d.ts`), "utf8"));
    writeFileSync(join(typesFolder, `${name}.d.ts`), types);
    problems.push(...undocumented(types).map((declaration) => `${name}: no docstring for ${declaration}`));
  }
  return { problems, changedReports };
}

function settings(folder: string, entry: string, name: string, typesFolder: string): object {
  const compilerOptions = {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable"],
    strict: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules/@types")],
    allowImportingTsExtensions: true,
    noEmit: true,
  };
  const error = { logLevel: "error" };
  const none = { logLevel: "none" };
  return {
    projectFolder: root,
    mainEntryPointFilePath: entry,
    newlineKind: "lf",
    compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
    dtsRollup: { enabled: true, untrimmedFilePath: join(typesFolder, `${name}.d.ts`) },
    apiReport: {
      enabled: true,
      reportFileName: `${name}.api.md`,
      reportFolder: join(root, "api"),
      reportTempFolder: join(folder, "reports"),
    },
    docModel: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: error },
      extractorMessageReporting: {
        default: none,
        "ae-forgotten-export": error, // A public type refers to it, so users must be able to name it.
        ...(name === "index" && { "ae-undocumented": error }),
      },
      tsdocMessageReporting: { default: none },
    },
  };
}

/** The comment of a module stays before its first declaration, which has one of its own. */
function withoutModuleComments(types: string): string {
  return types.replace(/\/\*\*(?:(?!\*\/|@packageDocumentation)[\s\S])*\*\/\n+(?=\/\*\*)/g, "");
}

/** The exported declarations without a docstring. */
function undocumented(types: string): string[] {
  return [...types.matchAll(/(?<!\*\/\n)^export declare (?:abstract )?(\w+ \w+)/gm)].map(([, name]) => name as string);
}
