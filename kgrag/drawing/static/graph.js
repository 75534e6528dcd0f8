"use strict";
// Pointing at an entity lights what it hangs together with. A drawing broader than its place begins in its middle.
for (const svg of document.querySelectorAll(".canvas svg")) {
  const nodes = [...svg.querySelectorAll(".node")], edges = [...svg.querySelectorAll(".edge")];
  for (const node of nodes) {
    node.addEventListener("pointerenter", () => {
      const near = new Set([node.dataset.number]);
      for (const edge of edges) {
        const ends = [edge.dataset.from, edge.dataset.to], isLit = ends.includes(node.dataset.number);
        edge.classList.toggle("lit", isLit);
        if (isLit) ends.forEach(end => near.add(end));
      }
      for (const other of nodes) other.classList.toggle("lit", near.has(other.dataset.number));
      svg.classList.add("dim");
    });
    node.addEventListener("pointerleave", () => svg.classList.remove("dim"));
  }
  const place = svg.closest(".canvas");
  place.scrollLeft = (place.scrollWidth - place.clientWidth) / 2;
}
