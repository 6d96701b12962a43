// @ts-check
// What the browser keeps for its reader: JSON, under keys that begin with `course:`. Storage may be
// forbidden or full, and another page may have written there. Then nothing is kept, and nothing fails.

const OURS = "course:";

/**
 * What is kept under a key, or null.
 * @param {string} key
 * @returns {any}
 */
export function get(key) {
    try {
        return JSON.parse(localStorage.getItem(OURS + key) ?? "null");
    } catch {
        return null;
    }
}

/**
 * Keep a value; tells whether the browser has kept it.
 * @param {string} key
 * @param {unknown} value what JSON can hold
 */
export function set(key, value) {
    try {
        localStorage.setItem(OURS + key, JSON.stringify(value));
        return true;
    } catch {
        return false;
    }
}

/** @param {string} key */
export function remove(key) {
    try {
        localStorage.removeItem(OURS + key);
    } catch {
        // Nothing is kept where storage is forbidden.
    }
}

/** The keys of all that is kept, in order: to export it, or to delete it. */
export function keys() {
    try {
        return Object.keys(localStorage)
            .filter((key) => key.startsWith(OURS))
            .map((key) => key.slice(OURS.length))
            .sort();
    } catch {
        return [];
    }
}

/** Tell whether the browser lets this site keep nothing at all. */
export function forbidden() {
    try {
        return localStorage.length < 0;
    } catch {
        return true;
    }
}

/**
 * Call back when another tab changes what is kept: with the key and its new value, null where it was
 * deleted. Where a tab deletes everything at once, the key is null.
 * @param {(key: string | null, value: any) => void} changed
 */
export function listen(changed) {
    window.addEventListener("storage", (event) => {
        if (event.key === null) changed(null, null);
        if (!event.key?.startsWith(OURS)) return;
        let value = null;
        try {
            value = JSON.parse(event.newValue ?? "null");
        } catch {
            // Another page has written there: it counts as deleted.
        }
        changed(event.key.slice(OURS.length), value);
    });
}
