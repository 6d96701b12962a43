// @ts-check
// Random numbers that a seed decides, the same on every machine.

const GOLDEN = 0x9e3779b9;

/**
 * Stir the bits of a whole number until each depends on all (a finaliser of the kind of SplitMix:
 * Steele, Lea and Flood 2014; the constants are Wellons', 2018).
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
     * @param {number} stream of the same seed, each with numbers of its own
     */
    constructor(seed, stream) {
        this.#state = stirred(seed + GOLDEN) ^ stirred(stream + 1);
    }

    /** From 0 to 1, without 1. */
    uniform() {
        this.#state = (this.#state + GOLDEN) | 0;
        return stirred(this.#state) / 2 ** 32;
    }

    /** @param {number} below A whole number from 0. */
    whole(below) {
        return Math.floor(this.uniform() * below);
    }

    /** Of mean 0 and variance 1 (Box and Muller 1958). */
    normal() {
        const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
        return radius * Math.cos(2 * Math.PI * this.uniform());
    }

    /**
     * Different whole numbers below `size`, in a random order (Fisher and Yates 1938).
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
