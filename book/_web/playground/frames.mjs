// @ts-check
// Messages that come faster than a slow screen can draw are drawn together, once a frame: else they
// would queue up before whatever the reader does, and *Stop* would be heard late.

/**
 * @template Message
 * @param {(messages: Message[]) => void} draw is given what came since the last frame
 */
export function frames(draw) {
    /** @type {Message[]} */
    let waiting = [];

    /** Draw now what waits. */
    function flush() {
        const all = waiting;
        waiting = [];
        if (all.length) draw(all);
    }

    return {
        flush,
        /** @param {Message} message */
        push(message) {
            waiting.push(message);
            if (document.hidden)
                flush(); // a page in the background has no frames
            else if (waiting.length === 1) requestAnimationFrame(flush);
        },
        /** Forget what waits. */
        clear() {
            waiting = [];
        },
    };
}
