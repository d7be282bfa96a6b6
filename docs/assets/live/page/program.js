// "Copy as NumPy", which few readers ask for, so it is a script of its own.

import { program } from "../python.js";
import { attentionDocs } from "./scripts.js";

attentionDocs.program = program;
