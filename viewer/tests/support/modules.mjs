// Modules of the page, compiled for Node: `const { pick } = await load("view/pick.ts")`.
import { build } from "esbuild";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const viewer = join(dirname(fileURLToPath(import.meta.url)), "../..");

export async function load(path) {
  const result = await build({
    entryPoints: [join(viewer, "src", path)],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "silent",
  });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}
