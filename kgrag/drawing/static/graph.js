"use strict";
const svg = document.querySelector("svg"), view = svg.viewBox.baseVal;
const whole = [view.x, view.y, view.width, view.height];
const nodes = [...document.querySelectorAll(".node")].map(g => ({
  g, x: +g.dataset.x, y: +g.dataset.y, r: +g.dataset.r }));
const edges = [...document.querySelectorAll(".edge[data-from]")].map(g => ({
  g, path: g.querySelector("path"), text: g.querySelector("text"),
  from: nodes[g.dataset.from], to: nodes[g.dataset.to], bend: +g.dataset.bend, at: +g.dataset.at }));
document.getElementById("hint").hidden = false;

// The same curve as in page.py: quadratic, stopping short of both circles.
function draw({g, path, text, from, to, bend, at}) {
  if (from === to) { g.setAttribute("transform", "translate(" + [from.x, from.y] + ")"); return; }
  const dx = to.x - from.x, dy = to.y - from.y, length = Math.hypot(dx, dy) || 1;
  const cx = (from.x + to.x) / 2 - dy / length * 2 * bend;
  const cy = (from.y + to.y) / 2 + dx / length * 2 * bend;
  const a = toward(from, cx, cy, from.r), b = toward(to, cx, cy, to.r + 4), m = 1 - at;
  path.setAttribute("d", "M" + a + " Q" + [cx, cy] + " " + b);
  const x = m * m * from.x + 2 * m * at * cx + at * at * to.x;
  const y = m * m * from.y + 2 * m * at * cy + at * at * to.y;
  const tx = m * (cx - from.x) + at * (to.x - cx), ty = m * (cy - from.y) + at * (to.y - cy);
  let turn = Math.atan2(ty, tx) * 180 / Math.PI;
  if (turn > 90) turn -= 180; else if (turn <= -90) turn += 180;
  text.setAttribute("transform", "translate(" + [x, y] + ") rotate(" + turn + ")");
}
function toward(node, x, y, distance) {
  const length = Math.hypot(x - node.x, y - node.y) || 1;
  return [node.x + (x - node.x) / length * distance, node.y + (y - node.y) / length * distance];
}
function place(event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
}
function light(node) {
  const near = new Set([node]);
  for (const edge of edges) {
    const lit = edge.from === node || edge.to === node;
    edge.g.classList.toggle("lit", lit);
    if (lit) near.add(edge.from).add(edge.to);
  }
  for (const other of nodes) other.g.classList.toggle("lit", near.has(other));
  svg.classList.add("dim");
}

// Captions keep a size that can be read; of those that would overlap, that of the node with more
// edges is shown. Zooming in, or pointing at a node, shows the others.
const READABLE = 11, SIZE = 13;  // pixels on screen; of a caption at full size
for (const node of nodes) {
  node.text = node.g.querySelector("text");
  node.box = node.text.getBBox();
  node.edges = edges.filter(edge => edge.from === node || edge.to === node).length;
}
const byEdges = [...nodes].sort((a, b) => (b === nodes[0]) - (a === nodes[0]) || b.edges - a.edges);
function caption() {
  const pixels = svg.getScreenCTM().a, larger = Math.max(1, READABLE / (SIZE * pixels));
  svg.classList.toggle("far", SIZE * pixels < 9);  // predicates cannot be read
  const shown = [];
  for (const node of byEdges) {
    const {x, y, width, height} = node.box;
    const box = [node.x + x * larger, node.y + y * larger, width * larger, height * larger];
    const free = shown.every(([left, top, wide, high]) =>
      box[0] > left + wide || left > box[0] + box[2] || box[1] > top + high || top > box[1] + box[3]);
    node.text.setAttribute("transform", "scale(" + larger + ")");
    node.text.classList.toggle("hidden", !free);
    if (free) shown.push(box);
  }
}
const larger = Math.max(1, READABLE / (SIZE * svg.getScreenCTM().a)) - 1;
for (const [n, margin] of [[0, 90], [1, 50]]) {  // room for captions beside the outermost nodes
  whole[n] -= margin * larger;
  whole[n + 2] += 2 * margin * larger;
}
[view.x, view.y, view.width, view.height] = whole;
caption();
new ResizeObserver(caption).observe(svg);

let held = null, last = null;
for (const node of nodes) {
  node.g.addEventListener("pointerdown", () => { held = node; });
  node.g.addEventListener("pointerenter", () => { if (!last) light(node); });
  node.g.addEventListener("pointerleave", () => { if (!last) svg.classList.remove("dim"); });
}
svg.addEventListener("pointerdown", event => {
  if (event.button || event.target.closest("a")) { held = null; return; }
  event.preventDefault();
  svg.setPointerCapture(event.pointerId);
  last = place(event);
});
svg.addEventListener("pointermove", event => {
  if (!last) return;
  const now = place(event), dx = now.x - last.x, dy = now.y - last.y;
  if (!held) { view.x -= dx; view.y -= dy; return; }  // `last` keeps its place under the pointer
  held.x += dx; held.y += dy; last = now;
  held.g.setAttribute("transform", "translate(" + [held.x, held.y] + ")");
  for (const edge of edges) if (edge.from === held || edge.to === held) draw(edge);
});
function release() { if (held) caption(); held = last = null; svg.classList.remove("dim"); }
svg.addEventListener("pointerup", release);
svg.addEventListener("pointercancel", release);
svg.addEventListener("wheel", event => {
  event.preventDefault();
  const scale = Math.exp(Math.sign(event.deltaY) * 0.15), width = view.width * scale;
  if (width < whole[2] / 40 || width > whole[2] * 4) return;
  const point = place(event);
  view.x = point.x - (point.x - view.x) * scale; view.width = width;
  view.y = point.y - (point.y - view.y) * scale; view.height *= scale;
  caption();
}, {passive: false});
svg.addEventListener("dblclick", () => { [view.x, view.y, view.width, view.height] = whole; caption(); });
