// @ts-check
// Writes notebooks as the page does: `node write.mjs JOBS`. JOBS is a file of JSON, a list of
// {released, answers, target}; what is read back from each target is printed, a line each.

import { readFileSync, writeFileSync } from "node:fs";

import { fromNotebook, toNotebook } from "../../../book/_web/practise/notebook_file.mjs";

for (const { released, answers, target } of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
    const release = JSON.parse(readFileSync(released, "utf8"));
    writeFileSync(target, toNotebook(release, answers));
    console.log(JSON.stringify(fromNotebook(readFileSync(target, "utf8"), release, target)));
}
