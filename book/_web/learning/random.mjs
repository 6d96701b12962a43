// @ts-check
// Random numbers from a seed, the same on every machine.

const GOLDEN = 0x9e3779b9;

/**
 * Mix the bits of an integer so that each depends on all (a finaliser as in SplitMix: Steele, Lea
 * and Flood 2014; the constants are Wellons', 2018).
 * @param {number} bits
 */
function stirred(bits) {
    let z = bits;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
}

export class Random {
    #state;

    /**
     * @param {number} seed
     * @param {number} stream of the same seed; each stream has different numbers
     */
    constructor(seed, stream) {
        this.#state = stirred(seed + GOLDEN) ^ stirred(stream + 1);
    }

    /** Return a number from 0 to 1, excluding 1. */
    uniform() {
        this.#state = (this.#state + GOLDEN) | 0;
        return stirred(this.#state) / 2 ** 32;
    }

    /** Return an integer from 0 to below - 1. @param {number} below */
    whole(below) {
        return Math.floor(this.uniform() * below);
    }

    /** Return a normal number of mean 0 and variance 1 (Box and Muller 1958). */
    normal() {
        const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
        return radius * Math.cos(2 * Math.PI * this.uniform());
    }

    /**
     * Return distinct integers below `size`, in random order (Fisher and Yates 1938).
     * @param {number} count
     * @param {number} size
     */
    different(count, size) {
        const all = Array.from({ length: size }, (_, at) => at);
        for (let at = 0; at < count; at++) {
            const other = at + this.whole(size - at);
            [all[at], all[other]] = [all[other], all[at]];
        }
        return all.slice(0, count);
    }
}
