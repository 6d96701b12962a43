// @ts-check
// A button on each piece of code, which copies it.

/** Give each piece of code and each command in the text its button; not what a cell has printed. */
export function offerCopies() {
    if (!navigator.clipboard) return;
    for (const code of document.querySelectorAll(".text .highlight:not(.cell_output *)")) {
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
