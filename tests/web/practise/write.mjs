// @ts-check
// Write notebooks as the page does: `node write.mjs JOBS`. JOBS is a JSON file with a list of
// {released, answers, target}. The answers read back from each target are printed, one per line.

import { readFileSync, writeFileSync } from "node:fs";

import { fromNotebook, toNotebook } from "../../../book/_web/practise/notebook_file.mjs";

for (const { released, answers, target } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
    const release = JSON.parse(readFileSync(released, "utf8"));
    writeFileSync(target, toNotebook(release, answers));
    console.log(JSON.stringify(fromNotebook(readFileSync(target, "utf8"), release, target)));
}
