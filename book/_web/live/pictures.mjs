// @ts-check
// The rules for pictures of chapter 3 and for their captions, as in solutions/data/pictures.py. The
// numbers, colours and kinds come from there (book/_ext/live_pictures.py).

/**
 * @typedef {{ colour: string, kind: string, top: number, left: number, size: number }} Shape in
 * pixels, from the upper left corner
 * @typedef {Shape[]} Scene two or three, in any order
 * @typedef {[number, number, number]} Lines
 * @typedef {{ side: number, smallest: number, largest: number, gap: number, sway: number,
 *     noise: number, background: number[], colours: Record<string, number[]>, kinds: string[] }} Facts
 */

/** The layouts of a picture: the relations between consecutive shapes of its caption. */
export const LAYOUTS = [
    ...[["above"], ["left of"]],
    ...[
        ["above", "left of"],
        ["below", "left of"],
        ["left of", "above"],
        ["left of", "below"],
    ], // bends
];

/**
 * The rows and columns from a shape to the next shape of the caption.
 * @type {Record<string, number[]>}
 */
const STEPS = { above: [1, 0], below: [-1, 0], "left of": [0, 1] };

/** @param {Shape} shape */
export const named = ({ colour, kind }) => `${colour} ${kind}`;

export class Pictures {
    /** @param {Facts} facts */
    constructor(facts) {
        this.facts = facts;
    }

    /** Return the pixels between two shapes, in rows and in columns; negative if they overlap. */
    #gaps(/** @type {Shape} */ a, /** @type {Shape} */ b) {
        const gap = (/** @type {"top" | "left"} */ edge) =>
            Math.max(a[edge], b[edge]) - Math.min(a[edge] + a.size, b[edge] + b.size);
        return { rows: gap("top"), columns: gap("left") };
    }

    /** Return the relation of a to b; empty if they share neither rows nor columns, or both. */
    relation(/** @type {Shape} */ a, /** @type {Shape} */ b) {
        const { rows, columns } = this.#gaps(a, b);
        if (rows >= 0 && columns < 0) return a.top < b.top ? "above" : "below";
        if (columns >= 0 && rows < 0) return a.left < b.left ? "left of" : "right of";
        return "";
    }

    /**
     * Return the shapes in the order of the caption, and the relation of each to the next; null if
     * the scene has no caption.
     * @param {Scene} scene
     * @returns {{ shapes: Shape[], relations: string[] } | null}
     */
    read(scene) {
        const found = orders(scene)
            .map((shapes) => ({
                shapes,
                relations: shapes.slice(1).map((shape, at) => this.relation(shapes[at], shape)),
            }))
            .find(({ relations }) => LAYOUTS.some((one) => `${one}` === `${relations}`));
        if (!found) return null;
        const { rows, columns } = this.#gaps(found.shapes[0], found.shapes[scene.length - 1]);
        const related = scene.length === 3 && Math.min(rows, columns) < this.facts.gap;
        return related ? null : found;
    }

    /** Return the words of the caption. @param {Scene} scene one that has a caption */
    caption(scene) {
        const { shapes, relations } = this.read(scene) ?? { shapes: [], relations: [] };
        return shapes.flatMap((shape, at) => [
            "a",
            ...words(named(shape)),
            ...words(relations[at]),
        ]);
    }

    /** Return why a scene has no caption; empty if it has one. @param {Scene} scene */
    fault(scene) {
        const { side, smallest, largest, gap } = this.facts;
        if (new Set(scene.map(({ colour }) => colour)).size < scene.length)
            return "Two shapes have one colour, and no caption says so.";
        for (const { top, left, size } of scene) {
            if (size < smallest || size > largest)
                return `A shape is ${smallest} to ${largest} pixels wide.`;
            if (Math.min(top, left) < 0 || Math.max(top, left) + size > side)
                return "The picture ends here.";
        }
        for (const [at, one] of scene.entries())
            for (const other of scene.slice(at + 1)) {
                const { rows, columns } = this.#gaps(one, other);
                if (Math.max(rows, columns) < gap)
                    return (
                        `The ${named(one)} and the ${named(other)} would be too close: ` +
                        `${gap} pixels lie between two shapes at least.`
                    );
            }
        if (this.read(scene)) return "";
        return scene.length === 2
            ? "Then no caption could say how they stand: neither above nor left of each other."
            : "Then no caption could say how they stand: three shapes go round one corner.";
    }

    /**
     * Return whether the shapes are as well aligned as in the training pictures.
     * @param {Scene} scene one that has a caption
     */
    straight(scene) {
        const { shapes, relations } = this.read(scene) ?? { shapes: [], relations: [] };
        return relations.every((relation, at) => {
            const edge = relation === "left of" ? "top" : "left";
            const [one, other] = shapes.slice(at).map((shape) => middle(shape[edge], shape));
            return Math.abs(one - other) <= 2 * this.facts.sway;
        });
    }

    /**
     * Return the shapes, in this order, laid out by one of LAYOUTS.
     * @param {Shape[]} shapes one more than the relations of the layout
     * @param {string[]} layout
     * @param {Lines[]} [lines] for rows and for columns: the coordinate of a middle on the first
     * side, on the last side, and in a common line
     * @returns {Scene}
     */
    laidOut(shapes, layout, lines = [this.#quarters(), this.#quarters()]) {
        const points = [[0, 0]];
        for (const relation of layout) {
            const [row, column] = points[points.length - 1];
            points.push([row + STEPS[relation][0], column + STEPS[relation][1]]);
        }
        const [rows, columns] = lines.map(([first, last, only], axis) => {
            const all = points.map((point) => point[axis]);
            const [least, most] = [Math.min(...all), Math.max(...all)];
            return all.map((one) => (least === most ? only : one === least ? first : last));
        });
        return shapes.map((shape, at) => ({
            ...shape,
            top: rows[at] - Math.floor(shape.size / 2),
            left: columns[at] - Math.floor(shape.size / 2),
        }));
    }

    /** @returns {Lines} */
    #quarters() {
        const { side } = this.facts;
        return [side / 4, (3 * side) / 4, side / 2];
    }

    /**
     * Draw a random scene.
     * @param {() => number} random from 0 to 1, excluding 1
     * @returns {Scene}
     */
    drawn(random) {
        const { smallest, largest, sway, colours, kinds } = this.facts;
        const whole = (/** @type {number} */ below) => Math.floor(random() * below);
        const free = Object.keys(colours);
        const layout = LAYOUTS[whole(2) ? whole(2) : 2 + whole(4)];
        const shapes = Array.from({ length: layout.length + 1 }, () => ({
            colour: free.splice(whole(free.length), 1)[0],
            kind: kinds[whole(kinds.length)],
            size: smallest + whole(largest - smallest + 1),
            ...{ top: 0, left: 0 },
        }));
        for (;;) {
            const line = () => whole(this.facts.side);
            /** @type {Lines[]} */
            const lines = [0, 1].map(() => [line(), line(), line()]);
            const swayed = () => whole(2 * sway + 1) - sway;
            const scene = this.laidOut(shapes, layout, lines).map((shape) => ({
                ...shape,
                top: shape.top + swayed(),
                left: shape.left + swayed(),
            }));
            if (!this.fault(scene) && this.straight(scene)) return scene;
        }
    }
}

/** Return all orders of two or three shapes. @param {Scene} scene @returns {Scene[]} */
function orders(scene) {
    if (scene.length < 2) return [scene];
    return scene.flatMap((first) =>
        orders(scene.filter((one) => one !== first)).map((rest) => [first, ...rest]),
    );
}

/** @param {number} edge @param {Shape} shape */
const middle = (edge, { size }) => edge + Math.floor(size / 2);

/** @param {string | undefined} text */
const words = (text) => text?.split(" ") ?? [];
