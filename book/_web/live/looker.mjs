// @ts-check
// A captioner of the figure: its caption, its look for a chosen word, and its caption if the look
// is forced elsewhere at that word.

import { choice, element } from "../parts.mjs";
import { compared } from "./compared.mjs";
import { lookMap } from "./look_map.mjs";
import { changeText, lookText, where } from "./looked.mjs";
import { named } from "./pictures.mjs";
import { seeing } from "./seeing.mjs";
import { wordChoice } from "./word_choice.mjs";

/**
 * @typedef {import("./captioner.mjs").Captioner} Captioner
 * @typedef {import("./captioner.mjs").Said} Said
 * @typedef {import("./pictures.mjs").Scene} Scene
 */

/** The options for the look besides the shapes: not forced, and one place. */
const [OWN, PLACE] = ["own", "place"];

/** The initial word is the kind of the first shape: "circle" in "a red circle". */
const FIRST = 2;

/**
 * @param {string} id unique on the page
 * @param {string} title
 * @param {Captioner} captioner
 */
export function looker(id, title, captioner) {
    /** @type {Scene} */
    let scene = [];
    /** @type {string[]} */
    let right = [];
    /** @type {Float32Array} */
    let image = new Float32Array();
    /** @type {Said[]} */
    let free = [];
    /** @type {Said[]} */
    let forced = [];
    let shapes = "";
    let look = OWN;
    let onePlace = 0;
    /** The chosen words in its own caption, and in the caption with the forced look. */
    let [at, after] = [FIRST, FIRST];

    const map = lookMap((place) => {
        onePlace = place;
        const input = forcing.querySelector(`input[value="${PLACE}"]`);
        if (input instanceof HTMLInputElement) input.checked = true;
        force(PLACE);
    });
    const own = wordChoice(`${id}-word`, "What it says: choose a word", (chosen) => {
        at = chosen;
        after = chosen;
        write();
    });
    const other = wordChoice(`${id}-forced`, "What it says then", (chosen) => {
        after = chosen;
        write();
    });
    const judged = element("p", { class: "live-told" });
    const looked = element("p", { class: "live-told look-said" });
    const changed = element("p", { class: "look-said", role: "status" });
    const forcing = element("div");

    /** @param {string} value */
    function force(value) {
        look = value;
        after = at;
        write();
    }

    /** Return the visible places at the chosen word, and their name. */
    function only() {
        if (look === PLACE)
            return { places: new Set([onePlace]), name: `the place in ${where(onePlace)}` };
        const [shape] = scene.filter(({ colour }) => colour === look);
        return { places: seeing(scene, shape), name: `the ${named(shape)}` };
    }

    function write() {
        const words = free.map(({ word }) => word);
        const { kept, missing } = compared(words, right);
        judged.textContent = inWords(kept, missing);
        at = Math.max(0, Math.min(at, words.length - 1));
        own.show(
            words,
            kept.map((one) => !one),
            "live-wrong",
            at,
        );
        other.place.hidden = look === OWN;
        changed.textContent = "";
        let shown = free[at];
        if (look !== OWN && shown) {
            const { places, name } = only();
            forced = captioner.caption(image, { at, places });
            const then = forced.map(({ word }) => word);
            after = Math.max(0, Math.min(after, then.length - 1));
            const news = compared(then, words).kept.map((one) => !one);
            other.show(then, news, "look-changed", after);
            changed.textContent = changeText(words, then, at, name);
            shown = forced[after];
        }
        map.place.hidden = !shown;
        looked.textContent = shown ? lookText(scene, shown.shares, shown.word) : "";
        if (shown) map.light(shown.shares, shown.word);
    }

    /**
     * @param {Scene} composed in the order of the caption
     * @param {Float32Array} picture
     * @param {string[]} caption the right one
     */
    function show(composed, picture, caption) {
        [scene, image, right] = [composed, picture, caption];
        map.see(image, `The picture: ${caption.join(" ")}`);
        free = captioner.caption(image);
        const now = scene.map(named).join();
        if (now !== shapes) {
            shapes = now;
            look = OWN;
            /** @type {[string, string][]} */
            const values = [
                [OWN, "wherever it looks itself"],
                ...scene.map(
                    (one) => /** @type {[string, string]} */ ([one.colour, `the ${named(one)}`]),
                ),
                [PLACE, "one place: click on it in the picture"],
            ];
            const text = "At the chosen word let it look only at";
            forcing.replaceChildren(choice(`${id}-look`, text, values, force));
        }
        write();
    }

    const place = element(
        "div",
        { class: "live-machine look-machine" },
        element("p", { class: "live-name" }, title),
        map.place,
        element(
            "div",
            { class: "look-beside" },
            own.place,
            judged,
            looked,
            forcing,
            other.place,
            changed,
        ),
    );
    return { place, show };
}

/**
 * Return a sentence on the mistakes in a caption. A word in another's place is one mistake.
 * @param {boolean[]} kept
 * @param {number} missing the number of words that only the right caption has
 */
function inWords(kept, missing) {
    const wrong = kept.filter((one) => !one).length;
    if (!wrong && !missing) return "Right, every word.";
    const parts = [];
    if (wrong) parts.push(`${wrong} of ${kept.length} words wrong`);
    if (missing > wrong) parts.push(`${missing - wrong} missing`);
    return `${parts.join(", ")}.`;
}
