// @ts-check
// Which of several tabs with the same assignment writes. The Web Locks API says so: who holds the
// lock writes, the others wait for it in a queue, and get it when that tab is closed. Where a browser
// has no locks (or the page came by plain http), the tab that was there first writes.
//
// A tab that wants to write asks the one that does, by a message that passes through the storage of
// the browser and stays nowhere. That tab writes what is pending and lets go; only then the lock is
// stolen. A tab that a browser has frozen does not answer; it wrote what was pending when it was
// hidden, so after a second it is passed over.

import { listen, remove, set } from "../storage.mjs";

const PATIENCE = 1000; // milliseconds that a tab has to let go

/** @typedef {{ type: "open" | "held" | "want" | "given", from: string, since: number }} Message */

/**
 * Take part in who writes an assignment.
 * @param {string} assignment
 * @param {(mine: boolean) => void} turn is told at first, and when it changes; before this tab lets
 *     go, so that it can still write
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
        if (error.name !== "AbortError") return change(true); // no locks are to be had
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
