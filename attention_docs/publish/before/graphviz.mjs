// Reads a JSON list of graphs in DOT from standard input and writes a list of their drawings in SVG.
// The first argument is the module of Graphviz.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Graphviz } = await import(pathToFileURL(process.argv[2]).href);
const graphviz = await Graphviz.load();
const draw = (graph) => graphviz.layout(graph, "svg", "dot");

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(draw)));
