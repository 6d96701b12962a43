// The library that searches. On the site its own module stands in the place of this one.
export { default } from "./node_modules/minisearch/dist/es/index.js";
