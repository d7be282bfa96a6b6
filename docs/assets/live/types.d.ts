// Types that several modules share.

/** In order of promotion: each type can represent those before it. */
type Dtype = "bool" | "int64" | "float64";

interface NDArray {
  shape: number[];
  /** The elements, the last axis varying fastest; true is 1. */
  data: Float64Array;
  dtype: Dtype;
}

/** One entry of a NumPy index. */
type Index = number | null | "..." | { slice: (number | null)[] };

/** A call of a public function. An argument is `{node}` if it is an array. */
interface Scope {
  call: string;
  arguments: Record<string, any>;
  results: Record<string, number>;
}

/** A placeholder in a message: the first element of node `of` where node `first` is true. */
type Phrase = { first: number; of: number };

/** A comparison that decided which branch Python took. */
interface Guard {
  node: number;
  holds: boolean | number;
  /** The error that Python raises if the comparison has another result; null if it takes another branch. */
  refusal: [error: string, message: (string | Phrase)[]] | null;
}

type Refusal = { error: string; message: string } | { error: null; message: null };

interface Graph {
  example: string;
  /** In topological order: inputs come first. */
  nodes: { operation: string; inputs: number[]; attributes: Record<string, any> }[];
  /** The node of each step, in reading order. */
  steps: Map<string, number>;
  /** The steps that readers can edit. */
  inputs: string[];
  /** `steps`, then the editable literals shared with other examples, as `example.step`. */
  nodesByName: Map<string, number>;
  scopes: Scope[];
  guards: Guard[];
  /** The Python code of the literal that an input comes from, such as `encoder_decoder.ENCODER[0]`. */
  constants: Record<string, string>;
  /** Formulas in words, by step, for examples with random inputs and for those that can be repeated. */
  formulas: Record<string, string>;
  /** The words along each axis of a step, for examples that name their rows and columns. */
  labels: Record<string, string[][]>;
  /** The letters or words by which pages call steps, if other than their names. */
  names: Record<string, string>;
  /** Formulas in the letters of the pages, where the script would write none or one too long. */
  written: Record<string, string>;
  /** Of an example that can be repeated: what the next iteration begins with in place of the first node is the second. */
  carried: [before: number, after: number][];
  /** The value of each node, without edits. */
  values: NDArray[];
}

/** An element of a step. */
type Cell = { step: string; index: number[] };

/** New values, by the name of the input. */
type Edits = Map<string, NDArray>;

/** An example with the reader's edits. */
interface Example {
  name: string;
  graph: Graph;
  edits: Edits;
  /** What earlier iterations have handed on, by node. */
  state: Map<number, NDArray>;
  /** The value of each node for the last edits that Python accepts. */
  values: NDArray[];
  /** Why Python would refuse the current edits. */
  refusal: Refusal | null;
}
