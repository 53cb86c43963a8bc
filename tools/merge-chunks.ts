/**
 * Merges the chunks of a bundle with `splitting`. esbuild makes a chunk for each set of entry points that share code, hundreds here, and each that a
 * start loads costs the resolution, reading and linking of a file. Here a root, which is the file of an entry point or of a dynamic import, takes in
 * all chunks that it imports statically, directly or not. Other files then import from the root what they shared with it.
 */
import { basename, dirname, join } from "node:path";
import { type BuildOptions, build, type Metafile, type Plugin } from "esbuild";

export interface Bundle {
  readonly metafile: Metafile;
  /** By path, relative to the directory of the build. */
  readonly texts: ReadonlyMap<string, string>;
}

type Options = BuildOptions & { readonly absWorkingDir: string; readonly outdir: string };

/** @returns the bundle, in memory, which is not minified */
export async function bundle(options: Options): Promise<Bundle> {
  const split = { ...options, minify: false, banner: {}, splitting: true, metafile: true, write: false } as const;
  const { metafile, outputFiles } = await build(split);
  const path = (file: string): string => join(options.outdir, basename(file));
  return { metafile, texts: new Map(outputFiles.map((file) => [path(file.path), file.text])) };
}

/**
 * Writes a bundle.
 * @param roots the sources of roots. Each takes in what earlier ones have not, so that loading an earlier root does not load a later one
 * @param isReadable returns whether the file of a source is not minified
 * @returns what describes the written files
 */
export async function writeMerged(
  bundled: Bundle,
  roots: readonly string[],
  options: Options,
  isReadable: (source: string) => boolean,
): Promise<Metafile> {
  const rootOf = assignRoots(bundled.metafile, roots);
  const separate = [...bundled.texts.keys()].filter((path) => !rootOf.has(path));
  const files = new Set([...separate, ...rootOf.values()]);
  const entries = (paths: readonly string[]): { in: string; out: string }[] =>
    paths.map((path) => ({ in: `chunk:${path}`, out: basename(path, ".js") }));
  const all = chunkPlugin(bundled, rootOf, () => true);
  const { outputFiles } = await build({ ...options, write: false, entryPoints: entries([...files]), plugins: [all] });
  const statements = outputFiles.flatMap(({ text }) => text.match(/import\{[^}]*\}from"/g) ?? []);
  const imported = new Set(statements.flatMap((statement) => statement.match(/(?<=[{,])[\w$]+/g) ?? []));
  const plugins = [chunkPlugin(bundled, rootOf, (name) => imported.has(name))];
  const readable = [...files].filter((path) => isReadable(bundled.metafile.outputs[path]?.entryPoint ?? ""));
  const others = [...files].filter((path) => !readable.includes(path));
  const write = async (paths: readonly string[], minify: boolean): Promise<Metafile["outputs"]> => {
    const { metafile } = await build({ ...options, minify, metafile: true, entryPoints: entries(paths), plugins });
    return metafile.outputs;
  };
  return { inputs: {}, outputs: { ...(await write(others, true)), ...(await write(readable, false)) } };
}

/** @returns the root of each merged file, and of each root */
function assignRoots(metafile: Metafile, roots: readonly string[]): Map<string, string> {
  const rootOf = new Map<string, string>();
  for (const source of roots) {
    const root = fileOf(metafile, source);
    for (const file of loadedBy(metafile, source)) if (!rootOf.has(file)) rootOf.set(file, root);
  }
  return rootOf;
}

/** @returns the file of a source, and all that it imports statically, directly or not */
function loadedBy(metafile: Metafile, source: string): string[] {
  const loaded = new Set([fileOf(metafile, source)]);
  for (const file of loaded) {
    const imports = metafile.outputs[file]?.imports ?? [];
    for (const { path, kind, external } of imports)
      if (kind === "import-statement" && external !== true) loaded.add(path);
  }
  return [...loaded];
}

/** @returns the file of a bundle that a source is the entry point of, or of a dynamic import */
export function fileOf({ outputs }: Metafile, source: string): string {
  const file = Object.keys(outputs).find((path) => outputs[path]?.entryPoint === source);
  if (file === undefined) throw new Error(`${source} is not the source of a file of the bundle`);
  return file;
}

function chunkPlugin(
  { metafile: { outputs }, texts }: Bundle,
  rootOf: ReadonlyMap<string, string>,
  isImported: (exportName: string) => boolean,
): Plugin {
  const ids = new Map([...rootOf.keys()].map((path, index) => [path, `_${index.toString(36)}_`]));
  /** The root's own exports keep their names. */
  const exportName = (path: string, name: string): string =>
    rootOf.get(path) === path ? name : `${ids.get(path)}${name}`;
  /** Exports of merged chunks that files with another root import. */
  const shared = (root: string): string[] =>
    [...rootOf].flatMap(([path, to]) => {
      if (to !== root || path === root) return [];
      const names = (outputs[path]?.exports ?? []).filter((name) => isImported(exportName(path, name)));
      return names.map(
        (name) => `export { ${name} as ${exportName(path, name)} } from ${JSON.stringify(`chunk:${path}`)};`,
      );
    });
  /** The text of a merged chunk for files with another root. */
  const forward = (path: string): string => {
    const root = `./${basename(rootOf.get(path) as string)}`;
    const names = (outputs[path]?.exports ?? []).map((name) => `${exportName(path, name)} as ${name}`);
    return names.length === 0 ? `import ${JSON.stringify(root)};` : `export { ${names} } from ${JSON.stringify(root)};`;
  };
  return {
    name: "merge-chunks",
    setup(own) {
      own.onResolve({ filter: /./ }, ({ path, importer, kind, namespace }) => {
        if (kind === "entry-point" || path.startsWith("chunk:"))
          return { path: path.slice("chunk:".length), namespace: "chunk" };
        const imported = join(dirname(importer), path);
        if (namespace !== "chunk" || kind === "dynamic-import" || !texts.has(imported)) return { path, external: true };
        const [from, to] = [rootOf.get(importer) ?? importer, rootOf.get(imported)];
        if (to === undefined) return { path, external: true };
        return from === to ? { path: imported, namespace: "chunk" } : { path: imported, namespace: "forward" };
      });
      own.onLoad({ filter: /./, namespace: "chunk" }, ({ path }) => {
        const isRoot = (rootOf.get(path) ?? path) === path;
        return { contents: [texts.get(path), ...(isRoot ? shared(path) : [])].join("\n"), loader: "js" };
      });
      own.onLoad({ filter: /./, namespace: "forward" }, ({ path }) => ({ contents: forward(path), loader: "js" }));
    },
  };
}
