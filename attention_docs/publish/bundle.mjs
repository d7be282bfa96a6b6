// Joins the modules that run in the browser into classic scripts, which also run from a file, and
// lists the operations that they can compute. The arguments are esbuild's module and their folder.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [library, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(library).href)).default;
const settings = { absWorkingDir: folder, bundle: true, minify: true, write: false, logLevel: "silent" };

const bundled = async (name, format) => {
  const { outputFiles } = await build({ ...settings, entryPoints: [join(folder, name)], format });
  return outputFiles[0].text;
};

try {
  const arrays = Buffer.from(await bundled("arrays.js", "esm")).toString("base64");
  const { operations } = await import(`data:text/javascript;base64,${arrays}`);
  const scripts = {
    "live.js": await bundled("page/main.js", "iife"),
    "live-more.js": await bundled("page/more.js", "iife"),
  };
  process.stdout.write(JSON.stringify({ scripts, operations: Object.keys(operations) }));
} catch ({ errors, stack }) {
  const lines = errors?.map(({ location, text }) => `${location?.file}:${location?.line}: ${text}`);
  process.stderr.write(lines?.join("\n") ?? stack);
  process.exitCode = 1;
}
