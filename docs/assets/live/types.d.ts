// What several modules have in common.

/** Each can represent those before it. */
type Dtype = "bool" | "int64" | "float64";

interface NDArray {
  shape: number[];
  /** The elements, the last axis varying fastest; true is 1. */
  data: Float64Array;
  dtype: Dtype;
}

/** One entry of NumPy's index. */
type Index = number | null | "..." | { slice: (number | null)[] };

/** A call of a public function. An argument is `{node}` if it is an array. */
interface Scope {
  call: string;
  arguments: Record<string, any>;
  results: Record<string, number>;
}

/** In a message, the first element of an array where another is true. */
type Phrase = { first: number; of: number };

/** What Python asked of a node, and went on because of the answer. */
interface Guard {
  node: number;
  holds: boolean | number;
  /** Null: another answer leads another way. */
  refusal: [error: string, message: (string | Phrase)[]] | null;
}

type Refusal = { error: string; message: string } | { error: null; message: null };

interface Graph {
  example: string;
  /** Each after its inputs. */
  nodes: { operation: string; inputs: number[]; attributes: Record<string, any> }[];
  /** The node of each named step, in reading order. */
  steps: Map<string, number>;
  /** The steps that can be edited. */
  inputs: string[];
  /** As `steps`, and then the literals that other examples share, as `example.step`, which can be edited. */
  named: Map<string, number>;
  scopes: Scope[];
  guards: Guard[];
  /** In words, by step, where inputs are drawn at random. */
  formulas: Record<string, string>;
  /** Of the nodes, as the example has them. */
  values: NDArray[];
}

/** An element of a named step. */
type Cell = { step: string; index: number[] };

/** By the name of the input. */
type Edits = Map<string, NDArray>;

/** An example on the page. */
interface Example {
  name: string;
  graph: Graph;
  edits: Edits;
  /** The last ones that Python would give too. */
  values: NDArray[];
  /** Why it would not give those of the edits. */
  refusal: Refusal | null;
}
