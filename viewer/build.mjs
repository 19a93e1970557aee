// Bundles the page into dist/: index.html, viewer.js, viewer.css, icon.svg. `node build.mjs --watch` rebuilds on every change.
import { build, context } from "esbuild";
import { cp, mkdir, rm } from "node:fs/promises";

const options = {
  entryPoints: { viewer: "src/main.ts" },
  outdir: "dist",
  bundle: true,
  format: "iife",
  target: "es2022",
  minify: true,
  legalComments: "eof",
  logLevel: "info",
};

await rm("dist", { recursive: true, force: true });
await mkdir("dist", { recursive: true });
for (const file of ["index.html", "icon.svg"]) await cp(`src/${file}`, `dist/${file}`);
if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);
