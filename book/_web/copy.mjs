// @ts-check
// A button on each piece of code, which copies it.

/** Give each piece of code in the text its button. */
export function offerCopies() {
    if (!navigator.clipboard) return;
    for (const code of document.querySelectorAll(
        ".cell_input .highlight, .text > * > div.highlight, .text div.highlight-shell > .highlight, .text div.highlight-bash > .highlight",
    )) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "copy";
        button.textContent = "Copy";
        button.addEventListener("click", async () => {
            await navigator.clipboard.writeText(
                code.querySelector("pre")?.textContent?.trimEnd() ?? "",
            );
            button.textContent = "Copied";
            setTimeout(() => {
                button.textContent = "Copy";
            }, 2000);
        });
        code.append(button);
    }
}
