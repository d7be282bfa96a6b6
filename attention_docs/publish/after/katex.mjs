// Reads {macros, formulas: [{tex, display}]} from standard input and writes, for each formula,
// {html} or {error}. The first argument is KaTeX's module.
//
// Numbers carry their references in the HTML and in the MathML, which screen readers read.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const katex = (await import(pathToFileURL(process.argv[2]).href)).default;
const REFERENCE = /^(computed|\w+\.\w+(\.shape)?(\[[-\d:;]+\])?)$/;
// A number, whose content scripts replace, with the space before the next operator, which is to stay.
const NUMBER_AND_SPACE =
  /(<span class="enclosing[^>]* data-val=[^>]*>(?:<span class="mord">[^<]*<\/span>)+)(<span class="mspace"[^>]*><\/span>)<\/span>/g;
const { macros, formulas } = JSON.parse(readFileSync(0, "utf8"));

const render = ({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      output: "htmlAndMathml",
      throwOnError: true,
      // Formulas set classes, for the colours of roles, and the references of their numbers.
      strict: (code) => (code === "htmlExtension" ? "ignore" : "error"),
      trust: ({ command, url }) => {
        if (command === "\\htmlClass" || command === "\\htmlData") return true;
        if (command === "\\href" && REFERENCE.test(url)) return true;
        throw new Error(`${command} is not allowed here`);
      },
      macros: { ...macros },
    });
    // TeX has ";" in references, because "," would separate attributes in \htmlData.
    const withCommas = (attribute) => attribute.replaceAll(";", ",");
    return { html: markSpokenNumbers(rowsForGroups(html)).replace(NUMBER_AND_SPACE, "$1</span>$2").replace(/data-(val|spoken)="[^"]*"/g, withCommas) };
  } catch (error) {
    return { error: error.message };
  }
};

// KaTeX wraps a group that acts as a symbol, as \underset does, in <mi> or <mo>, which may only contain text:
// browsers read what is in them as unknown elements. Such a wrapper becomes a row.
const rowsForGroups = (html) => {
  const open = [];
  return html.replace(/<(\/?)(m[io])\b([^>]*)>(?=(<(?!\/))?)/g, (tag, slash, name, attributes, child) => {
    if (slash) return `</${open.pop()}>`;
    open.push(child ? "mrow" : name);
    return `<${open.at(-1)}${attributes}>`;
  });
};

// In MathML, KaTeX can mark a number only by a link. The link becomes a row with the reference, which
// scripts update. The TeX annotation is removed, because no script would update its numbers.
const markSpokenNumbers = (html) =>
  html
    .replace(/<(m(?!row)\w+) href="([^"]*)">(.*?)<\/\1>/g, '<mrow href="$2"><$1>$3</$1></mrow>')
    .replaceAll('<mrow href="computed"', "<mrow data-computed")
    .replaceAll("<mrow href=", "<mrow data-spoken=")
    .replace(/<semantics>(.*)<annotation.*<\/semantics>/s, "$1");

process.stdout.write(JSON.stringify(formulas.map(render)));
