// The writer of programs, which is loaded for "Copy code".

import { program } from "../../program.js";
import { attentionDocs } from "../site.js";

attentionDocs.program = program;
