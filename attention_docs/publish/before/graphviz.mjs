// Reads a JSON list of graphs in DOT from standard input and writes their layouts as JSON. The first
// argument is the module of Graphviz.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { Graphviz } = await import(pathToFileURL(process.argv[2]).href);
const graphviz = await Graphviz.load();
const layout = (graph) => JSON.parse(graphviz.layout(graph, "json", "dot"));

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(layout)));
