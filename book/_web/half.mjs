// @ts-check
// Numbers in half precision (IEEE 754), which no browser reads by itself yet.

/** Return the number with these 16 bits. @param {number} bits */
export function fromHalf(bits) {
    const sign = bits & 0x8000 ? -1 : 1;
    const exponent = (bits >> 10) & 0x1f;
    const fraction = (bits & 0x3ff) / 1024;
    if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    if (exponent === 0) return sign * fraction * 2 ** -14;
    return sign * (1 + fraction) * 2 ** (exponent - 15);
}

/** Return the numbers of a base64 text, little-endian. @param {string} text */
export function halves(text) {
    const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
    return Float32Array.from({ length: bytes.length / 2 }, (_, at) =>
        fromHalf((bytes[2 * at + 1] << 8) | bytes[2 * at]),
    );
}
