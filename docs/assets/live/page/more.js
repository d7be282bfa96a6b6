// What fewer readers ask for than for a card: a script of its own, fetched when somebody does.

import { program } from "../python.js";
import { attentionDocs } from "./scripts.js";
import { walk } from "./walk.js";

attentionDocs.more = { program, walk };
