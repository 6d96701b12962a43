// @ts-check
// placeholder until h-predict's storage is merged
export const get = (/** @type {string} */ k) => {
    try {
        return JSON.parse(localStorage.getItem(`course:${k}`) ?? "null");
    } catch {
        return null;
    }
};
export const set = (/** @type {string} */ k, /** @type {unknown} */ v) => {
    try {
        localStorage.setItem(`course:${k}`, JSON.stringify(v));
        return true;
    } catch {
        return false;
    }
};
export const remove = (/** @type {string} */ k) => {
    try {
        localStorage.removeItem(`course:${k}`);
    } catch {
        /* nothing is kept */
    }
};
