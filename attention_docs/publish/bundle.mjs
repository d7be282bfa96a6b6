// Joins the modules that run in the browser into one classic script, which also runs from a file, and
// lists the operations that they can compute. The arguments are esbuild's module and their folder.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [library, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(library).href)).default;

const bundled = async (name, format) => {
  const entryPoints = [join(folder, name)];
  const { outputFiles } = await build({ entryPoints, format, bundle: true, minify: true, write: false });
  return outputFiles[0].text;
};

const arrays = Buffer.from(await bundled("arrays.js", "esm")).toString("base64");
const { operations } = await import(`data:text/javascript;base64,${arrays}`);
const script = await bundled("main.js", "iife");
process.stdout.write(JSON.stringify({ script, operations: Object.keys(operations) }));
