"use strict";
/* Draws an episode of the 3D world from above: the surface as it was made, the path, the segment, ores and changes. */

function makeView() {
  const world = DATA.drawing, area = world.area, near = 28;
  let zoomed = false, shown = 1;
  const map = draw("svg", { role: "img" });
  if (world.ground) {
    draw("image", { x: area[0], y: area[1], width: area[2], height: area[3], href: world.ground, preserveAspectRatio: "none", class: "ground" }, map);
  } else {
    draw("rect", { x: area[0], y: area[1], width: area[2], height: area[3], class: "no-ground" }, map);
  }
  const drawing = draw("g", {}, map);
  at("map").appendChild(map);
  const note = make("p", "muted");
  at("map").appendChild(note);
  if (!world.ground) at("map").appendChild(make("p", "muted", "The surface is not drawn: it was another terrain version, or the way is too long."));
  legends();

  const zoom = at("zoom");
  zoom.addEventListener("click", () => setZoom(!zoomed));
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "z" && !event.ctrlKey && !event.metaKey && !event.altKey && !at("help").open) setZoom(!zoomed);
  });
  function setZoom(on) {
    zoomed = on;
    zoom.setAttribute("aria-pressed", String(on));
    show(shown);
  }

  function points(flat) {
    const found = [];
    for (let i = 0; i < flat.length; i += 2) found.push(`${flat[i] / 10},${flat[i + 1] / 10}`);
    return found.join(" ");
  }

  function show(step) {
    shown = step;
    const decision = DATA.steps[step - 1], pose = world.poses[step - 1];
    let view = area;
    if (zoomed) view = [pose[0] - near / 2, pose[2] - near / 2, near, near];
    map.setAttribute("viewBox", view.join(" "));
    const unit = Math.max(view[2], view[3]) / 460;  // about a pixel
    drawing.replaceChildren();

    for (const [when, x, , z, , after] of world.changes) {
      if (when < step) draw("rect", { x, y: z, width: 1, height: 1, class: after === "air" || after === "water" ? "changed" : "changed placed" }, drawing);
    }
    const walked = [];
    for (let s = 1; s < step; s++) if (world.walks[s - 1].length) walked.push(world.walks[s - 1]);
    for (const name of ["case", "past"]) {
      for (const walk of walked) draw("polyline", { points: points(walk), class: `trail ${name}` }, drawing);
    }

    const segment = segmentAt(step), flat = new Map();
    const block = (n) => { const at = DATA.nodes[n]; return [at[0] + 0.5, at[2] + 0.5]; };
    for (const edge of segment.edges) {
      const a = block(edge.from), b = block(edge.to), key = [a, b].map(String).sort().join(" ");
      const known = flat.get(key) || { a, b, count: 0, most: 0 };
      known.count += edge.count;
      known.most = Math.max(known.most, edge.count);
      flat.set(key, known);
    }
    for (const { a, b, count, most } of flat.values()) {
      const again = most > DATA.k ? " again" : "";
      if (String(a) === String(b)) {
        draw("circle", { cx: a[0], cy: a[1], r: 7 * unit, class: "trail segment" + again }, drawing);
      } else {
        draw("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: "trail segment" + again }, drawing);
      }
      const place = String(a) === String(b) ? [a[0], a[1] - 13 * unit] : [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      if (count > 1) drawText("text", { x: place[0], y: place[1], class: "map-text", "font-size": 12 * unit, "text-anchor": "middle" }, `${count}`, drawing);
    }
    if (decision && world.walks[step - 1].length) draw("polyline", { points: points(world.walks[step - 1]), class: "trail now" }, drawing);

    for (const [x, y, z, seen, discovered, gone, acquired] of world.ores) {
      const known = discovered >= 0 && discovered < step;
      let state = known ? "known" : seen < step ? "seen" : "later";
      if (gone >= 0 && gone < step) state = acquired ? "taken" : "gone";
      const r = Math.max(0.5, 5 * unit);
      const mark = draw("rect", { x: x + 0.5 - r, y: z + 0.5 - r, width: 2 * r, height: 2 * r, transform: `rotate(45 ${x + 0.5} ${z + 0.5})`, class: `ore ${state}` }, drawing);
      const when = discovered >= 0 ? `discovered ${discovered ? "at decision " + discovered : "at the start"}` : "never discovered";
      drawText("title", {}, `${world.target} [${x}, ${y}, ${z}], ${when}${gone >= 0 ? (acquired ? ", acquired" : ", gone") + " at decision " + gone : ""}`, mark);
    }

    // Yaw 0 looks towards +z, 90 towards -x; the picture's horizontal field of view at 4:3 is 86 degrees.
    const reach = Math.max(6, 46 * unit), x = pose[0], z = pose[2];
    const ray = (turn) => { const a = ((pose[3] + turn) * Math.PI) / 180; return [x - Math.sin(a) * reach, z + Math.cos(a) * reach]; };
    const [l, r] = [ray(-43), ray(43)];
    draw("path", { d: `M${x} ${z}L${l[0]} ${l[1]}A${reach} ${reach} 0 0 1 ${r[0]} ${r[1]}Z`, class: "cone" }, drawing);
    draw("circle", { cx: x, cy: z, r: 5.5 * unit, class: "feet" }, drawing);

    const long = view[2] > 160 ? 32 : view[2] > 60 ? 16 : 8, sx = view[0] + 12 * unit, sy = view[1] + view[3] - 14 * unit;
    for (const name of ["case", ""]) draw("line", { x1: sx, y1: sy, x2: sx + long, y2: sy, class: `map-line ${name}` }, drawing);
    drawText("text", { x: sx, y: sy - 6 * unit, class: "map-text", "font-size": 12 * unit }, `${long} blocks`, drawing);
    const words = `Feet at ${pose.slice(0, 3).map((v) => v.toFixed(1)).join(", ")}; yaw ${pose[3]}°, pitch ${pose[4]}°.`;
    note.textContent = words;
    map.setAttribute("aria-label", `From above. ${words}`);
  }

  function legends() {
    const list = at("map-legend"), box = { x: 3, y: 3, width: 8, height: 8, transform: "rotate(45 7 7)" }, line = { x1: 0, y1: 7, x2: 14, y2: 7 };
    legendItem(list, partIcon("circle", { cx: 7, cy: 7, r: 5, class: "feet" }), "the feet before the decision, and what is in view");
    legendItem(list, partIcon("line", { ...line, class: "trail now" }), "this decision");
    legendItem(list, partIcon("line", { ...line, class: "trail past" }, true), "path so far");
    legendItem(list, partIcon("line", { ...line, class: "trail segment" }), "segment since the last progress, with traversals; rings are turns");
    legendItem(list, partIcon("line", { ...line, class: "trail segment again" }), `more than ${DATA.k} traversals`);
    for (const [name, text] of [["known", "ore, discovered"], ["seen", "in view, not discovered"], ["later", "found later"], ["taken", "acquired"]]) {
      legendItem(list, partIcon("rect", { ...box, class: `ore ${name}` }, name === "later"), text);
    }
    legendItem(list, partIcon("rect", { x: 3, y: 3, width: 8, height: 8, class: "changed" }), "removed block");
    legendItem(list, partIcon("rect", { x: 3, y: 3, width: 8, height: 8, class: "changed placed" }, true), "placed block");
  }
  return show;
}
