// Bundles the modules that run in the browser into a classic script, which also runs from a file, and
// lists the operations that they implement. The arguments are esbuild's module and their folder.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [esbuild, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(esbuild).href)).default;

try {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ["page/main.js"],
    bundle: true,
    format: "iife",
    minify: true,
    write: false,
    logLevel: "silent",
  });
  const { operations } = await import(pathToFileURL(join(folder, "operations.js")).href);
  const names = Object.keys(operations);
  const withoutSlopes = names.find((name) => operations[name].slopes === undefined);
  if (withoutSlopes) fail(`operations.js: ${withoutSlopes} has no slopes; expected null for a step function`);
  else process.stdout.write(JSON.stringify({ script: outputFiles[0].text, operations: names }));
} catch ({ errors, stack }) {
  // Only errors of esbuild have locations.
  const lines = errors?.map(({ location, text }) => `${location?.file}:${location?.line}: ${text}`);
  fail(lines?.join("\n") ?? stack);
}

function fail(message) {
  process.stderr.write(message);
  process.exitCode = 1;
}
