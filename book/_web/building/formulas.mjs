// Draws the formulas of a page while the site is built: MathJax, without a browser.
//
// Standard input is a list of { tex, display } as JSON. Standard output is { drawn, style }: for each
// formula { html } or { error }, and the style sheet of what these formulas are made of.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const FONTS = "_static/mathjax/output/chtml/fonts/woff-v2"; // as course_site.py serves them

globalThis.MathJax = {
    loader: {
        load: ["input/tex", "output/chtml", "a11y/assistive-mml", "adaptors/liteDOM"],
        paths: { mathjax: require.resolve("mathjax/package.json").replace("package.json", "es5") },
        require,
    },
    startup: { typeset: false },
    tex: {
        packages: { "[-]": ["noundefined"] }, // an unknown macro is an error, not red text
        formatError(_, error) {
            throw error;
        },
    },
    chtml: { fontURL: FONTS, matchFontHeight: false }, // text.css gives the size
};

/** @param {{ tex: string, display: boolean }} formula */
function draw({ tex, display }) {
    try {
        const container = MathJax.tex2chtml(tex, { display });
        return { html: MathJax.startup.adaptor.outerHTML(container) };
    } catch (error) {
        return { error: error.message };
    }
}

require("mathjax/es5/startup.js");
await MathJax.startup.promise;
const drawn = JSON.parse(readFileSync(0, "utf8")).map(draw);
const style = MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet());
process.stdout.write(JSON.stringify({ drawn, style }));
