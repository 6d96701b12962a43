// @ts-check
// The editor of a picture: its layout, the colours and kinds of its shapes, and their positions.

import { button, element } from "../parts.mjs";
import { canvas } from "./canvas.mjs";
import { painted } from "./painting.mjs";
import { LAYOUTS, named } from "./pictures.mjs";

/**
 * @typedef {import("./pictures.mjs").Pictures} Pictures
 * @typedef {import("./pictures.mjs").Scene} Scene
 * @typedef {import("./pictures.mjs").Shape} Shape
 */

const FAR = "It has a caption, but the captioners learned from shapes that stand more in line.";

/** Rows and columns by which a key moves a shape. @type {Record<string, [number, number]>} */
const KEYS = {
    ...{ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] },
};

/** Return the name of a layout: "1 above 2, 2 left of 3". @param {string[]} layout */
const offered = (layout) => layout.map((one, at) => `${at + 1} ${one} ${at + 2}`).join(", ");

/** @param {string} label @param {string[]} values @param {(value: string) => void} chosen */
function select(label, values, chosen) {
    const options = values.map((value) => element("option", { value }, value));
    const made = element("select", { "aria-label": label }, ...options);
    made.addEventListener("change", () => chosen(made.value));
    return made;
}

/**
 * @param {Pictures} pictures
 * @param {Scene} start
 * @param {(scene: Scene, image: Float32Array) => void} changed is called with the shapes in the order
 * of the caption, and the picture
 */
export function composing(pictures, start, changed) {
    const { facts } = pictures;
    const colours = Object.keys(facts.colours);
    let scene = start;
    let seed = 0;
    const shown = canvas(facts.side);
    const said = element("p", { class: "live-said", role: "status" });
    const frame = element("div", { class: "look-picture look-composed" }, shown.place);
    const layouts = select("How they stand", LAYOUTS.map(offered), (value) => {
        const layout = LAYOUTS.find((one) => offered(one) === value) ?? LAYOUTS[0];
        put(pictures.laidOut(enough(layout.length + 1), layout));
    });
    const rows = [0, 1, 2].map((at) => {
        const set = (/** @type {Partial<Shape>} */ part) =>
            put(scene.map((shape, each) => (each === at ? { ...shape, ...part } : shape)));
        const colour = select(`Colour of shape ${at + 1}`, colours, (one) => set({ colour: one }));
        const kind = select(`Kind of shape ${at + 1}`, facts.kinds, (one) => set({ kind: one }));
        const place = element("div", { class: "look-shape" }, `Shape ${at + 1} `, colour, kind);
        return { place, colour, kind };
    });
    const another = button("Another picture", () => {
        seed++;
        put(pictures.drawn(Math.random));
    });
    /** By colour, since each shape has a different colour; so a moved shape keeps the focus. */
    const handles = /** @type {Map<string, HTMLButtonElement>} */ (new Map());

    /** Return the first `count` shapes, adding a shape if needed. @param {number} count */
    function enough(count) {
        const free = (/** @type {string[]} */ all, /** @type {"colour" | "kind"} */ what) =>
            all.find((one) => scene.every((shape) => shape[what] !== one)) ?? all[0];
        const more = {
            ...scene[0],
            colour: free(colours, "colour"),
            kind: free(facts.kinds, "kind"),
        };
        return [...scene, more].slice(0, count);
    }

    /** @param {Scene} next one that has a caption */
    function put(next) {
        scene = pictures.read(next)?.shapes ?? next;
        said.textContent = pictures.straight(scene) ? "" : FAR;
        draw();
    }

    /**
     * Move a shape to the first of some positions that has a caption; if it is not the very first,
     * say why.
     * @param {string} colour
     * @param {Partial<Shape>[]} to
     */
    function move(colour, ...to) {
        const scenes = to.map((place) =>
            scene.map((one) => (one.colour === colour ? { ...one, ...place } : one)),
        );
        const faults = scenes.map((one) => pictures.fault(one));
        const fits = faults.indexOf("");
        if (fits >= 0) put(scenes[fits]);
        if (fits !== 0) said.textContent = faults[0];
    }

    /** @param {string} colour */
    const shapeOf = (colour) => scene.filter((one) => one.colour === colour)[0];

    /** @param {string} colour */
    function handle(colour) {
        const made = element("button", { type: "button", class: "look-handle" });
        made.addEventListener("keydown", (event) => {
            const by = KEYS[event.key];
            if (!by) return;
            event.preventDefault();
            const { top, left } = shapeOf(colour);
            move(colour, { top: top + by[0], left: left + by[1] });
        });
        /** The point of the shape at which it was grabbed. @type {[number, number] | null} */
        let taken = null;
        const pixel = (/** @type {PointerEvent} */ event) => {
            const { top, left, width } = shown.place.getBoundingClientRect();
            const scale = facts.side / width;
            return [(event.clientY - top) * scale, (event.clientX - left) * scale];
        };
        made.addEventListener("pointerdown", (event) => {
            const [row, column] = pixel(event);
            taken = [row - shapeOf(colour).top, column - shapeOf(colour).left];
            made.setPointerCapture(event.pointerId);
        });
        made.addEventListener("pointermove", (event) => {
            if (!taken) return;
            const held = taken;
            const most = facts.side - shapeOf(colour).size;
            const [top, left] = pixel(event).map((one, axis) =>
                Math.max(0, Math.min(most, Math.round(one - held[axis]))),
            );
            const to = { top, left };
            // If it cannot go there, it slides along one axis as far as possible.
            move(colour, to, { top: to.top }, { left: to.left });
        });
        for (const event of ["pointerup", "pointercancel"])
            made.addEventListener(event, () => {
                taken = null;
            });
        frame.append(made);
        return made;
    }

    function draw() {
        const image = painted(facts, scene, seed);
        shown.show(image, `The picture: ${pictures.caption(scene).join(" ")}`);
        layouts.value = offered(pictures.read(scene)?.relations ?? []);
        for (const [at, { place, colour, kind }] of rows.entries()) {
            place.hidden = at >= scene.length;
            if (place.hidden) continue;
            colour.value = scene[at].colour;
            kind.value = scene[at].kind;
            for (const one of colour.options)
                one.disabled = one.value !== colour.value && Boolean(shapeOf(one.value));
        }
        for (const [colour, made] of handles)
            if (!shapeOf(colour)) {
                made.remove();
                handles.delete(colour);
            }
        for (const shape of scene) {
            const { colour, top, left, size } = shape;
            const made = handles.get(colour) ?? handle(colour);
            handles.set(colour, made);
            made.setAttribute("aria-label", `Move the ${named(shape)} with the arrow keys`);
            const share = (/** @type {number} */ pixels) => `${(100 * pixels) / facts.side}%`;
            made.style.cssText =
                `top: ${share(top)}; left: ${share(left)}; ` +
                `width: ${share(size)}; height: ${share(size)}`;
        }
        changed(scene, image);
    }

    const controls = element(
        "div",
        { class: "look-controls" },
        another,
        element("div", { class: "look-shape" }, "How they stand ", layouts),
        ...rows.map(({ place }) => place),
        element(
            "p",
            { class: "live-told" },
            "Each shape has a colour of its own. Drag a shape in the picture, or walk to it with the Tab key and move it with the arrow keys.",
        ),
        said,
    );
    return { place: element("div", { class: "look-editor" }, frame, controls), begin: draw };
}
