// @ts-check
// Sanitising of HTML that Python made. A notebook may come from somebody else, so its HTML must not
// run anything, fetch anything, or look like a part of the page.

/** The allowed elements: text, tables and drawings. Of any other element, only the text stays. */
const ELEMENTS = new Set(
    [
        "a b blockquote br caption code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i kbd li ol p",
        "pre s small span strong sub summary sup table tbody td tfoot th thead tr u ul var",
        "circle defs desc ellipse g line lineargradient path polygon polyline rect stop svg text title",
        "tspan",
    ].flatMap((names) => names.split(" ")),
);
/** Elements that are dropped with all their content, which is not text to read. */
const UNREAD = new Set("head iframe math noscript object script style template".split(" "));
const REFUSED =
    /^on|^(id|name|class|tabindex|is|slot|part|contenteditable|popover.*|.*command.*)$/i;
/** Attributes whose value is an address. */
const ADDRESSES = /^(.*href|src.*|action|formaction|data|ping|poster|background|cite|manifest)$/i;

/** @param {Attr} attribute */
function allowed({ name, value }) {
    if (!/^[a-z][\w:-]*$/i.test(name) || REFUSED.test(name) || ADDRESSES.test(name)) return false;
    return !/url\s*\(|image\s*\(|image-set|expression|position\s*:|\\|@import/i.test(value);
}

/** @param {Node} from @param {Node} to */
function copyChildren(from, to) {
    for (const child of from.childNodes) {
        if (child instanceof Text) to.appendChild(document.createTextNode(child.data));
        if (!(child instanceof Element)) continue;
        const name = child.localName.toLowerCase();
        if (UNREAD.has(name)) continue;
        if (!ELEMENTS.has(name)) {
            copyChildren(child, to);
            continue;
        }
        const copy = document.createElementNS(child.namespaceURI, child.localName);
        for (const attribute of child.attributes)
            if (allowed(attribute)) copy.setAttribute(attribute.name, attribute.value);
        copyChildren(child, copy);
        to.appendChild(copy);
    }
}

/**
 * Return the elements of a piece of HTML that are safe to show.
 * @param {string} html
 */
export function cleaned(html) {
    const made = document.createDocumentFragment();
    copyChildren(new DOMParser().parseFromString(html, "text/html").body, made);
    return made;
}
