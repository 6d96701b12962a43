// @ts-check
// The reader's data in the browser's storage: JSON, under keys that begin with `course:`. Storage
// may be forbidden or full, and other pages may have written to it. Then nothing is stored, but no
// error is thrown.

const OURS = "course:";

/**
 * Return the value stored under a key, or null.
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
 * Store a value; return whether the browser has stored it.
 * @param {string} key
 * @param {unknown} value a value that JSON can represent
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
        // If storage is forbidden, nothing is stored.
    }
}

/** Return all stored keys, sorted, for exporting or deleting the data. */
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

/** Return whether the browser forbids this site to store anything. */
export function forbidden() {
    try {
        return localStorage.length < 0;
    } catch {
        return true;
    }
}

/**
 * Call `changed` when another tab changes the storage, with the key and its new value, or null if
 * it was deleted. If a tab deletes everything at once, the key is null.
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
            // Another page has written something else: treat it as deleted.
        }
        changed(event.key.slice(OURS.length), value);
    });
}
