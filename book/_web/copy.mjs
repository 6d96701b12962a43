// @ts-check
// Copy buttons on code.

/** Add a button to each piece of code and each command in the text, but not to printed output. */
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
