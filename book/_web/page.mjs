// A formula that is wider than the page scrolls inside its own box: let the keyboard reach it.

function reachable() {
    for (const formula of document.querySelectorAll("mjx-container[display]")) {
        if (formula.scrollWidth > formula.clientWidth) formula.tabIndex = 0;
        else formula.removeAttribute("tabindex");
    }
}

window.addEventListener("load", async () => {
    await window.MathJax?.startup?.promise;
    reachable();
    window.addEventListener("resize", reachable);
});
