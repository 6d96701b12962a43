// Provide the grammar with the tables that Python writes for the site.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Grammar } from "../../../book/_web/live/grammar.mjs";

const cwd = fileURLToPath(new URL("../../../", import.meta.url));
const output = execFileSync("python3", ["-m", "book._ext.live_grammar"], { cwd, encoding: "utf8" });

export const grammar = new Grammar(JSON.parse(output));
