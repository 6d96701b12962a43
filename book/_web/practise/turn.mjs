// @ts-check
// Decides which of several tabs with the same assignment writes. With the Web Locks API, the tab
// that holds the lock writes, and the other tabs wait in a queue for it to be closed. If the browser
// has no locks (or the page came by plain http), the tab that was opened first writes.
//
// A tab that wants to take over sends a message to the tab that writes, through the browser's
// storage and without leaving it there. That tab writes its pending changes and gives up its turn;
// only then the other tab steals the lock. A tab that the browser has frozen does not answer. It
// wrote its pending changes when it was hidden, so the other tab takes over after a second.

import { listen, remove, set } from "../storage.mjs";

const PATIENCE = 1000; // milliseconds that a tab has to give up its turn

/** @typedef {{ type: "open" | "held" | "want" | "given", from: string, since: number }} Message */

/**
 * Take part in the decision about which tab writes an assignment.
 * @param {string} assignment
 * @param {(mine: boolean) => void} turn called at first and after each change; if this tab gives up
 *     its turn, called before that, so that it can still write
 * @returns {{ takeOver: () => void }}
 */
export function takeTurns(assignment, turn) {
    const key = `practise-tab/${assignment}`;
    const me = {
        from: crypto.getRandomValues(new Uint32Array(2)).join("-"),
        since: performance.timeOrigin + performance.now(),
    };
    const locks = navigator.locks;
    let mine = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let waiting;

    /** @param {boolean} now */
    function change(now) {
        mine = now;
        turn(now);
    }

    /** @param {Message["type"]} type */
    function send(type) {
        set(key, { type, ...me });
        remove(key);
    }

    /** Hold the lock until it is stolen, or the tab is closed. */
    function hold() {
        change(true);
        return new Promise(() => {});
    }

    /** Wait in the queue again, after another tab has stolen the lock. @param {Error} error */
    function stolen(error) {
        if (error.name !== "AbortError") return change(true); // locks are not available
        if (mine) change(false);
        request({});
    }

    /** @param {LockOptions} options */
    const request = (options) => locks.request(key, options, hold).catch(stolen);

    function take() {
        if (waiting === undefined) return;
        clearTimeout(waiting);
        waiting = undefined;
        if (locks) request({ steal: true });
        else change(true);
    }

    listen((changed, message) => {
        if (changed !== key || !message) return;
        const first =
            message.since < me.since || (message.since === me.since && message.from < me.from);
        if (message.type === "want" && mine) {
            change(false);
            send("given");
        } else if (message.type === "given") take();
        else if (locks || !mine) return;
        else if (first) change(false);
        else if (message.type === "open") send("held");
    });

    /** @param {Lock | null} lock */
    function begin(lock) {
        if (lock) return hold();
        change(false);
        request({});
    }

    if (locks) locks.request(key, { ifAvailable: true }, begin).catch(stolen);
    else {
        change(true);
        send("open");
    }
    return {
        takeOver() {
            if (mine || waiting !== undefined) return;
            waiting = setTimeout(take, PATIENCE);
            send("want");
        },
    };
}
