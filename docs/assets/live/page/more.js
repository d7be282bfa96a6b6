// What fewer readers ask for than for a card: a script of its own, fetched when somebody does.

import { begin, leave, readAddress } from "./edit.js";
import { attentionDocs } from "./scripts.js";
import { walk } from "./walk.js";

attentionDocs.more = { begin, leave, readAddress, walk };
