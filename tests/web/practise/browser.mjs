// @ts-check
// Simulate a browser with several tabs, which share storage with its events, and Web Locks. Code
// that runs in a tab, also asynchronously, sees the `window`, `document` and `localStorage` of the tab.

import { AsyncLocalStorage } from "node:async_hooks";

/** @typedef {{ window: EventTarget, document: EventTarget, localStorage: any, navigator: { locks?: object } }} Globals */

/** @type {AsyncLocalStorage<Globals>} */
const current = new AsyncLocalStorage();
for (const name of /** @type {(keyof Globals)[]} */ ([
    "window",
    "document",
    "localStorage",
    "navigator",
]))
    Object.defineProperty(globalThis, name, {
        get: () => current.getStore()?.[name],
        configurable: true,
    });

/** Let all pending promises settle, in all tabs. */
export async function settled() {
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
}

/** Replace the timers by a clock that stands still until it is moved. */
export function clock() {
    let now = 0;
    /** @type {Map<number, { at: number, call: () => void }>} */
    const timers = new Map();
    let last = 0;
    globalThis.setTimeout = /** @type {any} */ (
        (/** @type {() => void} */ call, /** @type {number} */ after) => {
            last += 1;
            timers.set(last, { at: now + after, call: AsyncLocalStorage.bind(call) });
            return last;
        }
    );
    globalThis.clearTimeout = /** @type {any} */ ((/** @type {number} */ id) => timers.delete(id));
    return {
        /** @param {number} milliseconds */
        async pass(milliseconds) {
            now += milliseconds;
            for (const [id, { at, call }] of [...timers])
                if (at <= now && timers.delete(id)) call();
            await settled();
        },
    };
}

/** @param {{ locks?: boolean, kept?: Record<string, string> }} [settings] */
export function browser({ locks = true, kept = {} } = {}) {
    /** @type {Record<string, string>} */
    const data = Object.assign(Object.create(null), kept);
    /** @type {Set<Globals>} */
    const tabs = new Set();
    /** @type {Set<Globals>} */
    const frozen = new Set();
    const shared = { data, capacity: Number.POSITIVE_INFINITY, forbidden: false };

    /** @param {Globals} from @param {string | null} key @param {string | null} newValue */
    function tell(from, key, newValue) {
        for (const tab of tabs) {
            if (tab === from || frozen.has(tab)) continue;
            const event = Object.assign(new Event("storage"), { key, newValue });
            Promise.resolve().then(() => current.run(tab, () => tab.window.dispatchEvent(event)));
        }
    }

    /** @param {() => Globals} tab */
    function storage(tab) {
        /** @type {Record<string, Function>} */
        const methods = {
            getItem: (/** @type {string} */ key) => data[key] ?? null,
            setItem(/** @type {string} */ key, /** @type {string} */ value) {
                const all = { ...data, [key]: value };
                if (JSON.stringify(all).length > shared.capacity) throw new Error("no room");
                data[key] = value;
                tell(tab(), key, value);
            },
            removeItem(/** @type {string} */ key) {
                if (!(key in data)) return;
                delete data[key];
                tell(tab(), key, null);
            },
            clear() {
                for (const key of Object.keys(data)) delete data[key];
                tell(tab(), null, null);
            },
        };
        return new Proxy(data, {
            get: (_, name) =>
                name === "length" ? Object.keys(data).length : methods[String(name)],
        });
    }

    const manager = lockManager();
    return {
        shared,
        /** Open a tab. */
        open() {
            const kind = storage(() => tab);
            const tab = {
                window: new EventTarget(),
                document: new EventTarget(),
                navigator: locks ? { locks: manager.of() } : {},
                get localStorage() {
                    if (shared.forbidden) throw new Error("storage is forbidden");
                    return kind;
                },
            };
            tabs.add(tab);
            return {
                /** @template Value @param {() => Value} does @returns {Value} */
                run: (does) => current.run(tab, does),
                /** Stop receiving events, like a tab that the browser has frozen. */
                freeze: () => frozen.add(tab),
                async close() {
                    current.run(tab, () => tab.window.dispatchEvent(new Event("pagehide")));
                    tabs.delete(tab);
                    if (locks) manager.leave(tab.navigator.locks);
                    await settled();
                },
            };
        },
    };
}

/** Web Locks with a single name, since a page asks for no other. */
function lockManager() {
    /** @typedef {{ owner: object | undefined, call: (lock: object | null) => any, resolve: (value: any) => void, reject: (error: Error) => void }} Request */
    /** @type {Request | null} */
    let held = null;
    /** @type {Request[]} */
    let queue = [];

    /** @param {Request} request */
    function grant(request) {
        held = request;
        request.call({ name: "lock" });
    }

    return {
        of() {
            const owner = {
                request(
                    /** @type {string} */ _name,
                    /** @type {LockOptions} */ options,
                    /** @type {(lock: object | null) => any} */ callback,
                ) {
                    return new Promise((resolve, reject) => {
                        const call = AsyncLocalStorage.bind(callback);
                        const request = { owner, call, resolve, reject };
                        Promise.resolve().then(() => {
                            if (options.steal) {
                                held?.reject(new DOMException("stolen", "AbortError"));
                                grant(request);
                            } else if (held === null) grant(request);
                            else if (options.ifAvailable) resolve(call(null));
                            else queue.push(request);
                        });
                    });
                },
            };
            return owner;
        },
        /** @param {object | undefined} owner */
        leave(owner) {
            queue = queue.filter((request) => request.owner !== owner);
            if (held?.owner !== owner) return;
            held = null;
            const next = queue.shift();
            if (next) grant(next);
        },
    };
}
