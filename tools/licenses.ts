/** The licenses of packages that are bundled. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Metafile } from "esbuild";

/**
 * Returns the license texts of the packages in bundles.
 * @throws Error when a package has neither a license file nor a license in its package.json
 */
export function licenses(root: string, builds: readonly { readonly metafile: Metafile }[]): string {
  const inputs = builds.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const packages = new Set(inputs.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
  return [...packages]
    .sort()
    .map((directory) => license(join(root, directory)))
    .join("\n");
}

function license(directory: string): string {
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const [file] = globSync("{LICENSE,LICENCE}*", { cwd: directory });
  if (file === undefined && manifest.license === undefined) throw new Error(`${directory} has no license`);
  const text = file === undefined ? `License: ${manifest.license}` : readFileSync(join(directory, file), "utf8").trim();
  return `${manifest.name} ${manifest.version}\n\n${text}\n`;
}
