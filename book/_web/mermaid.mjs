// @ts-check
// Mermaid from the site itself, as the module that sphinxcontrib-mermaid imports. Its small edition
// is a classic script: read as a module, it would not find its own global variable.
await new Promise((loaded, failed) => {
    const script = document.createElement("script");
    script.src = new URL("./mermaid.tiny.js", import.meta.url).href;
    script.addEventListener("load", loaded);
    script.addEventListener("error", failed);
    document.head.append(script);
});

// @ts-expect-error: what the script defines
export default globalThis.mermaid;
