// Provide the pictures with the facts that Python writes for the site.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Pictures } from "../../../book/_web/live/pictures.mjs";

const cwd = fileURLToPath(new URL("../../../", import.meta.url));
const output = execFileSync("python3", ["-m", "book._ext.live_pictures"], {
    cwd,
    encoding: "utf8",
});

export const pictures = new Pictures(JSON.parse(output));
