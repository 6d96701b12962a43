// @ts-check
// Messages that arrive faster than a slow screen can draw are drawn together, once in each frame.
// Otherwise they would queue up before the reader's actions, and *Stop* would react late.

/**
 * @template Message
 * @param {(messages: Message[]) => void} draw receives the messages since the last frame
 */
export function frames(draw) {
    /** @type {Message[]} */
    let waiting = [];

    /** Draw the waiting messages now. */
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
        /** Drop the waiting messages. */
        clear() {
            waiting = [];
        },
    };
}
