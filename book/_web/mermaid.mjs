// Mermaid from the site itself, as the module that sphinxcontrib-mermaid imports.
import "./mermaid.tiny.js";

export default globalThis.mermaid;
