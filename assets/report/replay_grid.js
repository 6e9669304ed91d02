"use strict";
/* Draws a grid episode: the map as it was known before a decision, the move, the segment, and the task DAG. */

function makeView() {
  const world = DATA.drawing, size = 40, pad = 8;
  const xs = world.cells.map((c) => c[0]), ys = world.cells.map((c) => c[1]);
  const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);
  const left = least(xs), right = most(xs), bottom = least(ys), top = most(ys);
  const width = (right - left + 1) * size + 2 * pad, height = (top - bottom + 1) * size + 2 * pad;
  const corner = (cell) => [pad + (cell[0] - left) * size, pad + (top - cell[1]) * size];
  const centre = (cell) => corner(cell).map((v) => v + size / 2);

  const map = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  draw("rect", { x: 0, y: 0, width, height, rx: 8, class: "board" }, map);
  const cells = world.cells.map((cell) => {
    const [x, y] = corner(cell);
    const box = draw("rect", { x, y, width: size, height: size, rx: 4 }, map);
    drawText("title", {}, `[${cell[0]}, ${cell[1]}]`, box);
    return box;
  });
  const [startX, startY] = corner(world.start);
  draw("rect", { x: startX + 5, y: startY + 5, width: size - 10, height: size - 10, rx: 4, class: "start-mark" }, map);
  const under = draw("g", {}, map);
  const nodes = world.nodes.map((node) => {
    const [x, y] = centre(node.at), group = draw("g", {}, map);
    const mark = draw("rect", { x: x - 17, y: y - 11, width: 34, height: 22, rx: 7 }, group);
    if (node.goal) draw("rect", { x: x - 14, y: y - 8, width: 28, height: 16, rx: 5, class: "goal-ring" }, group);
    drawText("title", {}, node.id + (node.goal ? ", the goal" : ""), group);
    drawText("text", { x, y, class: "node-name" }, [...node.id].length > 5 ? [...node.id].slice(0, 4).join("") + "…" : node.id, group);
    return mark;
  });
  const over = draw("g", {}, map);
  at("map").appendChild(map);
  if (world.left_out) at("map").appendChild(make("p", "muted", `${world.left_out} cells that were never known are left out.`));

  const dag = makeDag(world.nodes);
  at("dag").appendChild(dag.drawing);
  legends();

  function state(node, before) {
    return node.achieved >= 0 && node.achieved < before ? "achieved" : node.found >= 0 && node.found < before ? "discovered" : "undiscovered";
  }

  return function show(step) {
    const decision = DATA.steps[step - 1];
    world.cells.forEach((cell, i) => {
      const known = cell[3] >= 0 && cell[3] < step ? "observed" : cell[2] >= 0 && cell[2] < step ? "unobserved" : "hidden";
      cells[i].setAttribute("class", `cell ${known}`);
    });
    world.nodes.forEach((node, i) => nodes[i].setAttribute("class", `node-mark ${state(node, step)}`));
    const pending = decision ? world.pending[step - 1] : [];
    dag.show((node) => state(node, step), decision && decision.c !== 1 ? pending : []);
    under.replaceChildren();
    over.replaceChildren();

    const segment = segmentAt(step);
    for (const edge of segment.edges) {
      const a = centre(DATA.nodes[edge.from]), b = centre(DATA.nodes[edge.to]), again = edge.count > DATA.k ? " again" : "";
      if (edge.from === edge.to) {
        draw("circle", { cx: a[0], cy: a[1], r: 13, class: "walked" + again, "stroke-width": 3 }, under);
      } else {
        draw("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "walked" + again, "stroke-width": 3 + 1.5 * Math.min(edge.count, 5) }, under);
      }
      const place = edge.from === edge.to ? [a[0], a[1] - 15] : [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      if (edge.count > 1) drawText("text", { x: place[0], y: place[1], class: "count" }, `${edge.count}`, over);
    }
    if (decision) {
      const goals = [];
      if (decision.c === 1 || decision.c === 4) world.cells.forEach((cell) => {
        if (cell[2] >= 0 && cell[2] < step && !(cell[3] >= 0 && cell[3] < step)) goals.push(cell);
      });
      if (decision.c > 1) pending.forEach((i) => { if (decision.c !== 2 || world.nodes[i].goal) goals.push(world.nodes[i].at); });
      for (const cell of goals) {
        const [x, y] = corner(cell);
        draw("rect", { x: x + 2.5, y: y + 2.5, width: size - 5, height: size - 5, rx: 4, class: "aim" }, over);
      }
    }
    const before = step > 1 ? world.at[step - 2] : world.start, [middleX, middleY] = centre(before);
    // Beside a node, so that its name stays readable.
    const onNode = world.nodes.some((node) => node.at[0] === before[0] && node.at[1] === before[1]);
    const [x, y] = onNode ? [middleX + 11, middleY + 13] : [middleX, middleY];
    draw("circle", { cx: x, cy: y, r: onNode ? 6 : 9, class: "agent" }, over);
    if (decision) {
      const [dx, dy] = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] }[decision.a] || [0, 0];
      const after = world.at[step - 1], moved = after[0] !== before[0] || after[1] !== before[1];
      const far = moved ? 30 : 17, tip = [x + dx * far, y + dy * far], side = 6;
      draw("path", {
        d: `M${x + dx * 11} ${y + dy * 11}L${tip[0]} ${tip[1]}` + (moved
          ? `M${tip[0] - dx * side - dy * side} ${tip[1] - dy * side - dx * side}L${tip[0]} ${tip[1]}L${tip[0] - dx * side + dy * side} ${tip[1] - dy * side + dx * side}`
          : `M${tip[0] - dy * 8} ${tip[1] - dx * 8}L${tip[0] + dy * 8} ${tip[1] + dx * 8}`),
        class: "step-arrow" + (moved ? "" : " bumped"),
      }, over);
    }
    map.setAttribute("aria-label", `Map; the agent is at [${before[0]}, ${before[1]}]`);
  };

  function legends() {
    const list = at("map-legend"), box = { x: 1, y: 1, width: 12, height: 12, rx: 2 };
    legendItem(list, partIcon("circle", { cx: 7, cy: 7, r: 6, class: "agent" }), "agent and its move");
    legendItem(list, partIcon("rect", { ...box, class: "cell observed" }), "observed");
    legendItem(list, partIcon("rect", { ...box, class: "cell unobserved" }), "unobserved");
    legendItem(list, partIcon("rect", { ...box, class: "cell hidden" }), "not known to the agent");
    legendItem(list, partIcon("rect", { ...box, class: "aim" }), "target");
    legendItem(list, partIcon("rect", { ...box, class: "start-mark" }), "start");
    legendItem(list, partIcon("line", { x1: 0, y1: 7, x2: 14, y2: 7, class: "walked", "stroke-width": 4 }), "segment since the last progress, with traversals");
    legendItem(list, partIcon("line", { x1: 0, y1: 7, x2: 14, y2: 7, class: "walked again", "stroke-width": 4 }), `more than ${DATA.k} traversals`);
    for (const name of ["undiscovered", "discovered", "achieved"]) {
      legendItem(at("dag-legend"), partIcon("rect", { ...box, class: `node-mark ${name}` }), name);
    }
    legendItem(at("dag-legend"), partIcon("rect", { ...box, class: "aim" }), "can be achieved now");
    legendItem(at("dag-legend"), partIcon("circle", { cx: 7, cy: 7, r: 4, class: "joint" }), "needs all that lead into it; of several, one");
  }
}

/* The task DAG in layers, prerequisites above what needs them. */
const MOST_NODES = 200;
function makeDag(all) {
  if (all.length > MOST_NODES) return { drawing: make("p", "muted", `${all.length} nodes are too many to draw.`), show() {} };
  const depths = new Map();
  const depth = (i) => {
    if (!depths.has(i)) {
      depths.set(i, 0);
      const parents = all[i].options.flat();
      depths.set(i, parents.length ? 1 + Math.max(...parents.map(depth)) : 0);
    }
    return depths.get(i);
  };
  const layers = [];
  all.forEach((node, i) => (layers[depth(i)] = layers[depth(i)] || []).push(i));
  const boxWidth = (i) => Math.max(92, Math.min(220, [...all[i].id].length * 8 + 24));
  const gap = 26, boxHeight = 40, layer = 104, widths = layers.map((row) => row.reduce((sum, i) => sum + boxWidth(i) + gap, -gap));
  const width = Math.max(...widths) + 20, places = new Map();
  layers.forEach((row, level) => {
    let x = (width - widths[level]) / 2;
    for (const i of row) { places.set(i, [x + boxWidth(i) / 2, 12 + level * layer]); x += boxWidth(i) + gap; }
  });
  const height = 12 + (layers.length - 1) * layer + boxHeight + 12;
  const drawing = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Task DAG" });
  drawing.style.maxWidth = `${Math.round(width * 1.15)}px`;
  drawing.style.minWidth = `${Math.round(width * 0.75)}px`;
  drawing.style.margin = "0 auto";
  const edges = [];
  all.forEach((node, i) => {
    const [x, y] = places.get(i);
    node.options.forEach((option, k) => {
      const jointX = x + (k - (node.options.length - 1) / 2) * 34, jointY = y - 18;
      for (const parent of option) {
        const [px, py] = places.get(parent);
        const edge = draw("path", { d: `M${px} ${py + boxHeight}C${px} ${py + boxHeight + 26} ${jointX} ${jointY - 26} ${jointX} ${jointY}` }, drawing);
        edges.push([edge, parent]);
      }
      edges.push([draw("path", { d: `M${jointX} ${jointY}L${x + (jointX - x) * 0.6} ${y}` }, drawing), option]);
      draw("circle", { cx: jointX, cy: jointY, r: 4, class: "joint" }, drawing);
      if (k) drawText("text", { x: jointX - 17, y: jointY, class: "dag-or" }, "or", drawing);
    });
  });
  const boxes = all.map((node, i) => {
    const [x, y] = places.get(i), w = boxWidth(i), group = draw("g", {}, drawing);
    const box = draw("rect", { x: x - w / 2, y, width: w, height: boxHeight, rx: 8 }, group);
    const name = [...node.id].length > 24 ? [...node.id].slice(0, 23).join("") + "…" : node.id;
    drawText("text", { x, y: y + 14, class: "dag-name" }, name + (node.goal ? " (goal)" : ""), group);
    const words = drawText("text", { x, y: y + 29, class: "dag-state" }, "", group);
    const ring = draw("rect", { x: x - w / 2 - 4, y: y - 4, width: w + 8, height: boxHeight + 8, rx: 10, class: "aim", visibility: "hidden" }, group);
    drawText("title", {}, node.id, group);
    return { box, words, ring };
  });
  function show(state, pending) {
    const done = (i) => state(all[i]) === "achieved";
    boxes.forEach((each, i) => {
      const now = state(all[i]);
      each.box.setAttribute("class", `node-mark ${now}`);
      each.words.textContent = now === "achieved" ? "✓ achieved" : now;
      each.ring.setAttribute("visibility", pending.includes(i) ? "visible" : "hidden");
    });
    for (const [edge, from] of edges) {
      edge.setAttribute("class", "edge" + ((Array.isArray(from) ? from.every(done) : done(from)) ? " done" : ""));
    }
  }
  return { drawing, show };
}
