// Reads {macros, formulas: [{tex, display}]} from standard input and writes, for each formula,
// {html} or {error}. The first argument is KaTeX's module.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const katex = (await import(pathToFileURL(process.argv[2]).href)).default;
const { macros, formulas } = JSON.parse(readFileSync(0, "utf8"));

const render = ({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      output: "htmlAndMathml",
      throwOnError: true,
      // A formula sets classes, which carry the colour of a role, and says where its numbers come from.
      strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
      trust: ({ command }) => {
        if (command === "\\htmlClass" || command === "\\htmlData") return true;
        throw new Error(`${command} is not allowed here`);
      },
      macros: { ...macros },
    });
    // A comma would have ended the attribute.
    return { html: html.replace(/data-val="[^"]*"/g, (val) => val.replaceAll(";", ",")) };
  } catch (error) {
    return { error: error.message };
  }
};

process.stdout.write(JSON.stringify(formulas.map(render)));
