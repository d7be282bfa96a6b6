// Reads {macros, formulas: [{tex, display}]} from standard input and writes, for each formula,
// {html} or {error}. The first argument is KaTeX's module.
//
// A number says in the HTML and in the MathML, which a screen reader reads, which result it is.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const katex = (await import(pathToFileURL(process.argv[2]).href)).default;
const REFERENCE = /^(computed|\w+\.\w+(\.shape)?(\[[-\d:;]+\])?)$/;
const { macros, formulas } = JSON.parse(readFileSync(0, "utf8"));

const render = ({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      output: "htmlAndMathml",
      throwOnError: true,
      // A formula sets classes, which carry the colour of a role, and says where its numbers come from.
      strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
      trust: ({ command, url }) => {
        if (command === "\\htmlClass" || command === "\\htmlData") return true;
        if (command === "\\href" && REFERENCE.test(url)) return true;
        throw new Error(`${command} is not allowed here`);
      },
      macros: { ...macros },
    });
    // A comma would have ended the attribute.
    return { html: spoken(html).replace(/data-(val|spoken)="[^"]*"/g, (name) => name.replaceAll(";", ",")) };
  } catch (error) {
    return { error: error.message };
  }
};

// Of what KaTeX knows, only a link can mark a part of MathML; a page that answers writes into a row.
// The TeX beside it would keep the numbers that the page was built with.
const spoken = (html) =>
  html
    .replace(/<(m(?!row)\w+) href="([^"]*)">(.*?)<\/\1>/g, '<mrow href="$2"><$1>$3</$1></mrow>')
    .replaceAll('<mrow href="computed"', "<mrow data-computed")
    .replaceAll("<mrow href=", "<mrow data-spoken=")
    .replace(/<semantics>(.*)<annotation.*<\/semantics>/s, "$1");

process.stdout.write(JSON.stringify(formulas.map(render)));
