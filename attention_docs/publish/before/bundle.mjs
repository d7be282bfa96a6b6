// Bundles the modules that run in the browser into classic scripts, which also run from a file, and
// lists the operations that they implement. The arguments are esbuild's module and their folder.
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const [esbuild, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(esbuild).href)).default;
// These become scripts of their own, which few pages or visitors load.
const OPTIONAL = "page/controls";
const WORKER = "model/worker.js";

try {
  const optional = readdirSync(join(folder, OPTIONAL)).map((file) => `${OPTIONAL}/${file}`);
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["page/main.js", WORKER, ...optional],
    bundle: true,
    format: "iife",
    minify: true,
    outdir: "out",
    write: false,
    logLevel: "silent",
  });
  const scripts = Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path, ".js"), text]));
  const { main: script, ...optionalScripts } = scripts;
  const { operations } = await import(pathToFileURL(join(folder, "operations.js")).href);
  const names = Object.keys(operations);
  const withoutSlopes = names.find((name) => operations[name].slopes === undefined);
  if (withoutSlopes) fail(`operations.js: ${withoutSlopes} has no slopes; expected null for a step function`);
  else process.stdout.write(JSON.stringify({ script, optional_scripts: optionalScripts, operations: names }));
} catch ({ errors, stack }) {
  // Only errors of esbuild have locations.
  const lines = errors?.map(({ location, text }) => `${location?.file}:${location?.line}: ${text}`);
  fail(lines?.join("\n") ?? stack);
}

function fail(message) {
  process.stderr.write(message);
  process.exitCode = 1;
}
