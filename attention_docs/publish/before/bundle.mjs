// Bundles the modules that run in the browser into a classic script, which also runs from a file, and
// lists the operations that they implement. The arguments are esbuild's module and their folder.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [library, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(library).href)).default;

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
  const entries = Object.entries(operations);
  const [undifferentiated] = entries.find(([, { slopes }]) => slopes === undefined) ?? [];
  if (undifferentiated)
    throw { stack: `operations.js: ${undifferentiated} has no slopes; expected null if it only jumps` };
  process.stdout.write(
    JSON.stringify({ script: outputFiles[0].text, operations: entries.map(([name]) => name) })
  );
} catch ({ errors, stack }) {
  const lines = errors?.map(({ location, text }) => `${location?.file}:${location?.line}: ${text}`);
  process.stderr.write(lines?.join("\n") ?? stack);
  process.exitCode = 1;
}
