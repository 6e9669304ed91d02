"use strict";
/* What the scripts of a replay page share: elements, shapes of marks, and text shown as data.

   Text from models and files reaches the page through textContent alone. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function at(id) { return document.getElementById(id); }

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function draw(tag, attributes, parent) {
  const element = document.createElementNS(SVG, tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (parent) parent.appendChild(element);
  return element;
}

/* A drawing's element with a text in it: a name on a map, or a title that a pointer brings up. */
function drawText(tag, attributes, text, parent) {
  const element = draw(tag, attributes, parent);
  element.textContent = visible(text);
  return element;
}

/* Characters that steer instead of being read are spelled out; those that join letters are left, as scripts need them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const PLAIN = new Set(["\n", "\t", "\u200c", "\u200d"]);
function visible(text) {
  return text.replace(HIDDEN, (character) =>
    PLAIN.has(character) ? character : "⟦" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟧");
}

function textOf(number) { return number === undefined ? "" : DATA.texts[number]; }
function lengthOf(number) { return DATA.cut[number] || textOf(number).length; }

/* Shapes of marks around a centre: told apart without colour. */
const SHAPES = {
  explore: (x, y, r) => [[x, y - r], [x + r, y + r * 0.8], [x - r, y + r * 0.8]],
  exploit: (x, y, r) => [[x, y + r], [x + r, y - r * 0.8], [x - r, y - r * 0.8]],
  both: (x, y, r) => [[x, y - r * 1.2], [x + r * 1.2, y], [x, y + r * 1.2], [x - r * 1.2, y]],
  star: (x, y, r) => Array.from({ length: 10 }, (_, i) => {
    const turn = Math.PI * (i / 5 - 0.5), far = i % 2 ? r * 0.5 : r * 1.25;
    return [x + far * Math.cos(turn), y + far * Math.sin(turn)];
  }),
};
const CLASSES = ["", "explore", "exploit", "both"];
const ERROR_NAMES = ["", "exploration error", "exploitation error", "exploration and exploitation error"];

/* A mark as a small drawing, for legends and badges; it takes the colour of the text around it. */
function markIcon(kind) {
  const icon = draw("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
  if (SHAPES[kind]) {
    draw("polygon", { points: SHAPES[kind](7, 7, 5.5).map((p) => p.join(",")).join(" "), fill: "currentColor" }, icon);
  } else if (kind === "progress") {
    draw("circle", { cx: 7, cy: 7, r: 5, fill: "currentColor" }, icon);
  } else if (kind === "found") {
    draw("circle", { cx: 7, cy: 7, r: 5, fill: "none", stroke: "currentColor", "stroke-width": 2 }, icon);
  } else if (kind === "gain") {
    draw("rect", { x: 5.5, y: 2, width: 3, height: 10, fill: "currentColor" }, icon);
  } else {
    draw("circle", { cx: 7, cy: 7, r: 2, fill: "currentColor" }, icon);
  }
  return icon;
}

function legendItem(list, icon, text, className) {
  const item = make("li", className);
  item.append(icon, make("span", "muted", text));
  list.appendChild(item);
}

/* An icon of a drawing's part: a rectangle, a circle or a line with the class that the drawing uses. */
function partIcon(tag, attributes, onGround) {
  const icon = draw("svg", { viewBox: "0 0 14 14", "aria-hidden": "true" });
  if (onGround) draw("rect", { x: 0, y: 0, width: 14, height: 14, rx: 2, class: "chip" }, icon);
  draw(tag, attributes, icon);
  return icon;
}

/* The no-progress segment up to and including a decision: traversals of edges and visits of nodes, by number. */
function segmentAt(step) {
  let first = 0;
  for (let s = Math.min(step, DATA.steps.length); s > 0; s--) {
    if (DATA.steps[s - 1].g === 2) { first = s; break; }
  }
  let node = first ? DATA.steps[first - 1].n : 0;
  const visits = new Map([[node, 1]]), edges = new Map();
  for (let s = first + 1; s <= Math.min(step, DATA.steps.length); s++) {
    const next = DATA.steps[s - 1].n;
    if (next < 0 || (DATA.leaves_out_staying && next === node)) continue;
    const key = Math.min(node, next) + "," + Math.max(node, next);
    const edge = edges.get(key) || { from: node, to: next, count: 0 };
    edge.count++;
    edges.set(key, edge);
    visits.set(next, (visits.get(next) || 0) + 1);
    node = next;
  }
  return { first, edges: [...edges.values()], visits };
}
