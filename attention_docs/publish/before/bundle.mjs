// Joins the modules that run in the browser into classic scripts, which also run from a file, and
// lists the operations that they can compute. The arguments are esbuild's module and their folder.
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const [library, folder] = process.argv.slice(2);
const { build } = (await import(pathToFileURL(library).href)).default;
const settings = {
  absWorkingDir: folder,
  bundle: true,
  format: "esm",
  metafile: true,
  minify: true,
  write: false,
  logLevel: "silent",
};

const bundled = async (options) => {
  const { outputFiles, metafile } = await build({ ...settings, ...options });
  return { text: outputFiles[0].text, ...Object.values(metafile.outputs)[0] };
};

// Leaves out the modules of the first script, so that each of them is fetched once and runs once. What
// two later ones need is in both.
const without = ({ inputs }) => ({
  name: "without",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
      const module = relative(folder, join(resolveDir, path)).replaceAll("\\", "/");
      return module in inputs ? { path: module, external: true } : undefined;
    }),
});
// What is left of their imports: `import{explain as e}from"explain.js";`.
const IMPORT = /import\{([^}]*)\}from"([^"]*)";/g;

// Writes a module that runs the first script and gives the others what they import from it.
const giving = (texts) => {
  const names = {};
  for (const [, imported, module] of texts.join("").matchAll(IMPORT))
    for (const name of imported.split(",")) (names[module] ??= new Set()).add(name.split(" as ")[0]);
  const given = Object.entries(names).map(
    ([module, names], i) => `"${module}": {${[...names].map((name) => `${name}: module${i}.${name}`)}}`
  );
  return [
    'import "./page/main.js";',
    ...Object.keys(names).map((module, i) => `import * as module${i} from "./${module}";`),
    `attentionDocs.modules = {${given}};`,
  ].join("\n");
};

const taking = (text) => {
  const taken = text.replace(IMPORT, (_, names, module) =>
    `const{${names.replaceAll(" as ", ":")}}=attentionDocs.modules["${module}"];`
  );
  const [, other] = taken.match(/(?:^|[;}])((?:import|export)\b.{0,60})/m) ?? [];
  if (other) throw new Error(`a later script may only import names, and export none: ${other}`);
  return taken;
};

// No name of a script is seen by another.
const alone = (text) => `(()=>{${text.trim()}})();`;

const scripts = async () => {
  const first = await bundled({ entryPoints: ["page/main.js"] });
  const later = await Promise.all(
    ["matters", "more"].map(async (name) => {
      const { text } = await bundled({ entryPoints: [`page/${name}.js`], plugins: [without(first)] });
      return [`live-${name}.js`, text];
    })
  );
  const contents = giving(later.map(([, text]) => text));
  const { text } = await bundled({ stdin: { contents, resolveDir: folder } });
  const taken = later.map(([name, text]) => [name, alone(taking(text))]);
  return { "live.js": alone(text), ...Object.fromEntries(taken) };
};

try {
  const { text } = await bundled({ entryPoints: ["arrays.js"] });
  const arrays = Buffer.from(text).toString("base64");
  const { operations } = await import(`data:text/javascript;base64,${arrays}`);
  process.stdout.write(
    JSON.stringify({ scripts: await scripts(), operations: Object.keys(operations) })
  );
} catch ({ errors, stack }) {
  const lines = errors?.map(({ location, text }) => `${location?.file}:${location?.line}: ${text}`);
  process.stderr.write(lines?.join("\n") ?? stack);
  process.exitCode = 1;
}
