"use strict";
/* Steps through an episode: keys, slider, timeline, words. Position 1 to n is before a decision; n + 1 is the end. */

const COUNT = DATA.steps.length, END = COUNT + 1;
const SPEEDS = [1, 2, 3, 4, 5, 8, 10, 15, 20];
const showView = makeView();
let now = 1, timer = null, reading = DATA.readings[0], hashTimer = null, errors = [];

/* --- what is where ------------------------------------------------------------------------------------------------ */

function errorOf(step) { return reading === "strict" && step.x !== undefined ? step.x : step.e; }
function kindOf(step) {
  const error = errorOf(step);
  return error ? CLASSES[error] : !step.c ? "unscored" : step.g === 2 ? "progress" : "gain";
}

/* Per position errors and eligible decisions up to there, for both kinds and readings. */
const SO_FAR = (() => {
  const rows = [[0, 0, 0, 0, 0, 0]];
  for (const step of DATA.steps) {
    const [a, ae, b, be, c, d] = rows[rows.length - 1], strict = step.x === undefined ? step.e : step.x;
    const explore = step.c === 1 || step.c === 4, exploit = step.c > 1;
    rows.push([a + (explore && step.e > 0), ae + explore, b + (exploit && step.e > 0), be + exploit, c + (explore && strict > 0), d + (exploit && strict > 0)]);
  }
  return rows;
})();
function rate(errors, eligible) { return eligible ? `${errors}/${eligible} = ${(errors / eligible).toFixed(2)}` : "–"; }

/* --- timeline ----------------------------------------------------------------------------------------------------- */

const INSET = 8;  // half of the slider's thumb, so that both lie above each other
function placeOf(position, width) { return INSET + ((position - 1) * (width - 2 * INSET)) / Math.max(COUNT, 1); }
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim(); }

/* A strip that is drawn once and then only gets its cursor. */
function strip(id, paint) {
  const canvas = at(id);
  if (!canvas) return { resize() {}, cursor() {} };
  const base = document.createElement("canvas");
  const dragged = (event) => go(1 + Math.round(((event.offsetX - INSET) / Math.max(canvas.clientWidth - 2 * INSET, 1)) * COUNT));
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); stop(); dragged(event); });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons) dragged(event); });
  return {
    resize() {
      const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
      if (!width || !height) return;
      for (const each of [canvas, base]) { each.width = Math.round(width * ratio); each.height = Math.round(height * ratio); }
      const ink = base.getContext("2d");
      ink.setTransform(ratio, 0, 0, ratio, 0, 0);
      ink.clearRect(0, 0, width, height);
      paint(ink, width, height);
    },
    cursor() {
      if (!base.width || !canvas.clientWidth) return;
      const ink = canvas.getContext("2d"), ratio = window.devicePixelRatio || 1;
      ink.setTransform(1, 0, 0, 1, 0, 0);
      ink.clearRect(0, 0, canvas.width, canvas.height);
      ink.drawImage(base, 0, 0);
      ink.setTransform(ratio, 0, 0, ratio, 0, 0);
      ink.fillStyle = colour("accent");
      ink.fillRect(placeOf(now, canvas.clientWidth) - 1, 0, 2, canvas.clientHeight);
    },
  };
}

function polygon(ink, points) {
  ink.beginPath();
  points.forEach(([x, y], i) => (i ? ink.lineTo(x, y) : ink.moveTo(x, y)));
  ink.closePath();
  ink.fill();
}

function paintTimeline(ink, width, height) {
  const spacing = (width - 2 * INSET) / Math.max(COUNT, 1), wide = spacing >= 4.5, r = Math.min(5.5, spacing * 0.52);
  const lanes = { explore: height * 0.27, middle: height * 0.5, exploit: height * 0.73 };
  ink.strokeStyle = colour("line");
  ink.lineWidth = 1;
  for (const y of [height * 0.385, height * 0.615]) { ink.beginPath(); ink.moveTo(INSET, y + 0.5); ink.lineTo(width - INSET, y + 0.5); ink.stroke(); }
  const inks = {};
  for (const name of ["explore", "exploit", "both", "progress", "gain", "unscored"]) inks[name] = colour(name);
  const bar = Math.max(1, Math.min(3, spacing * 0.8));
  /* Gains first: where steps are denser than pixels, errors lie on top. */
  for (const errorsNow of [false, true]) {
    DATA.steps.forEach((step, i) => {
      const kind = kindOf(step), x = placeOf(i + 1, width), error = errorOf(step) > 0;
      if (error !== errorsNow) return;
      ink.fillStyle = inks[kind];
      if (error) {
        if (kind === "both") ink.fillRect(x - bar / 2, lanes.explore, bar, lanes.exploit - lanes.explore);
        for (const lane of kind === "both" ? ["explore", "exploit"] : [kind]) {
          if (wide) polygon(ink, SHAPES[kind](x, lanes[lane], r));
          else ink.fillRect(x - bar / 2, lanes[lane] - height * 0.1, bar, height * 0.2);
        }
      } else if (step.k === 2) {
        polygon(ink, SHAPES.star(x, lanes.middle, Math.max(r, 4)));
      } else if (kind === "progress") {
        ink.beginPath(); ink.arc(x, lanes.middle, wide ? Math.min(r, 4) : bar, 0, 7); ink.fill();
        if (step.k === 1 && wide) { ink.strokeStyle = inks.progress; ink.lineWidth = 1.5; ink.beginPath(); ink.arc(x, lanes.middle, Math.min(r, 4) + 2.5, 0, 7); ink.stroke(); }
      } else if (kind === "gain") {
        ink.fillRect(x - bar / 2, lanes.middle - 5, bar, 10);
      } else {
        ink.fillRect(x - 1, lanes.middle - 1, 2, 2);
      }
    });
  }
  label(ink, "exploration errors", 9);
  label(ink, "exploitation errors", height - 2);
}

function label(ink, text, y) {
  ink.font = "10px system-ui, sans-serif";
  const wide = ink.measureText(text).width;
  ink.save();
  ink.globalAlpha = 0.75;
  ink.fillStyle = colour("panel");
  ink.fillRect(INSET - 1, y - 9, wide + 3, 11);
  ink.restore();
  ink.fillStyle = colour("muted");
  ink.fillText(text, INSET, y);
}

function paintLine(values, text, fill) {
  return (ink, width, height) => {
    const known = values.reduce((a, v) => [Math.min(a[0], v), Math.max(a[1], v)], [Infinity, -Infinity]);
    const low = fill ? 0 : known[0], high = Math.max(known[1], low + 1), y = (v) => height - 3 - ((v - low) / (high - low)) * (height - 17);
    const path = () => {
      ink.beginPath();
      values.forEach((v, i) => {
        const x = placeOf(i + 1, width);
        if (i) ink.lineTo(x, y(values[i - 1]));
        if (i) ink.lineTo(x, y(v)); else ink.moveTo(x, y(v));
      });
    };
    if (!values.length) return;
    if (fill) {
      path();
      ink.lineTo(placeOf(values.length, width), y(0)); ink.lineTo(INSET, y(0)); ink.closePath();
      ink.fillStyle = colour("accent-soft"); ink.fill();
    }
    path();
    ink.strokeStyle = colour("accent"); ink.lineWidth = 1.5; ink.stroke();
    ink.strokeStyle = colour("line"); ink.lineWidth = 1;
    ink.beginPath(); ink.moveTo(INSET, height - 2.5); ink.lineTo(width - INSET, height - 2.5); ink.stroke();
    label(ink, text(known), 9);
  };
}

const STRIPS = [
  strip("timeline", paintTimeline),
  strip("chart", paintLine(DATA.steps.map((step) => step.t), ([, most]) => `stale score, up to ${most}`, true)),
  strip("height", paintLine(DATA.line ? DATA.line.values : [], ([least, most]) => `${DATA.line.label}, ${least.toFixed(0)} to ${most.toFixed(0)}`, false)),
];
function repaint() { for (const each of STRIPS) { each.resize(); each.cursor(); } }

/* --- moving ------------------------------------------------------------------------------------------------------- */

function go(position) {
  now = Math.max(1, Math.min(END, Number.isFinite(position) ? position : 1));
  show();
}
function stop() {
  clearInterval(timer);
  timer = null;
  at("play").textContent = "Play";
  at("play").setAttribute("aria-pressed", "false");
}
function play() {
  if (now >= END) go(1);
  clearInterval(timer);
  timer = setInterval(() => { if (now >= END) { stop(); show(); } else go(now + 1); }, 1000 / Number(at("speed").value));
  at("play").textContent = "Pause";
  at("play").setAttribute("aria-pressed", "true");
}
function toggle() { if (timer === null) play(); else { stop(); show(); } }
function nextError(way) {
  stop();
  const found = way > 0 ? errors.find((s) => s > now) : errors.filter((s) => s < now).pop();
  if (found !== undefined) go(found);
}

function fromHash() {
  const found = /^#step=(\d{1,9})$/.exec(location.hash);
  return found ? Number(found[1]) : null;
}
/* Not at every step: a browser lets a page do this but so often. */
function keepHash() {
  clearTimeout(hashTimer);
  hashTimer = setTimeout(() => history.replaceState(null, "", `#step=${now}`), 250);
}

/* --- words -------------------------------------------------------------------------------------------------------- */

function putText(element, number, file) {
  element.textContent = visible(textOf(number));
  const after = element.nextElementSibling;
  if (after && after.classList.contains("cut")) after.remove();
  if (number !== undefined && DATA.cut[number]) {
    const note = make("p", "cut", `The first ${textOf(number).length} of ${DATA.cut[number]} characters; the rest stands in `);
    if (DATA.folder) { const link = make("a", "", file); link.href = `${DATA.folder}/${file}`; note.appendChild(link); } else note.append(`${file} in the episode's folder`);
    note.append(".");
    element.after(note);
  }
}

function badge(kind, text) {
  const element = make("span", `badge is-${kind}`);
  if (kind !== "case") element.appendChild(markIcon(kind));
  element.append(text);
  return element;
}

const CASE_NAMES = ["", "case 1: explore", "case 2: go for the goal", "case 3: exploit", "case 4: explore or exploit"];

function showWords() {
  const step = DATA.steps[now - 1], panel = document.querySelector(".decision"), badges = at("badges"), referee = at("referee");
  badges.replaceChildren();
  referee.replaceChildren();
  at("referee-panel").hidden = !step;
  at("told-panel").hidden = !step || DATA.by_a_person;
  if (!step) {
    panel.className = "panel decision";
    at("decision-place").textContent = `after ${COUNT} decisions`;
    at("decision-title").textContent = "End";
    at("outcome").textContent = document.querySelector(".outcome").textContent;
    showReplies(DATA.ending);
    at("sent-panel").hidden = true;
    return;
  }
  const kind = kindOf(step);
  panel.className = `panel decision is-${kind}`;
  at("decision-place").textContent = `decision ${now} of ${COUNT}`;
  at("decision-title").textContent = visible(step.a);
  badges.appendChild(badge(kind, errorOf(step) ? ERROR_NAMES[errorOf(step)] : kind === "unscored" ? "not scored" : kind));
  if (step.k) badges.appendChild(badge(step.k === 2 ? "star" : "found", DATA.event_names[step.k]));
  if (step.c) badges.appendChild(badge("case", CASE_NAMES[step.c]));
  putText(at("outcome"), step.u, "trajectory.jsonl");
  for (let i = 0; i < step.w.length; i += 2) {
    referee.append(make("dt", "", DATA.headings[step.w[i]]), make("dd", i ? "" : "main", visible(textOf(step.w[i + 1]))));
  }
  putText(at("told"), step.o, "trajectory.jsonl");
  putText(at("said"), step.s, "trajectory.jsonl");
  at("said-part").hidden = Boolean(step.r);  // what a model said stands with its replies
  showReplies(step.r || []);
  at("sent-panel").hidden = !DATA.sent || !step.r;
  if (DATA.sent && at("sent-details").open) showSent();
}

function showReplies(replies) {
  at("replies-panel").hidden = !replies.length;
  const place = at("replies");
  place.replaceChildren();
  replies.forEach((reply, i) => {
    const box = make("div", "reply");
    const parts = [i ? `re-ask ${i}` : "first reply", reply.finish, `${reply.tokens[0]} tokens in, ${reply.tokens[1]} out${reply.estimated ? " (estimated)" : ""}`];
    if (reply.reasoning_tokens) parts.push(`${reply.reasoning_tokens} of reasoning`);
    if (reply.cached_tokens) parts.push(`${reply.cached_tokens} cached`);
    parts.push(`${reply.seconds} s`);
    if (reply.retries) parts.push(`${reply.retries} requests sent again`);
    if (reply.reasoned) parts.push("reasoned apart from the answer");
    box.appendChild(make("p", "muted", parts.join(" · ")));
    if (reply.fault !== undefined) box.appendChild(make("p", "fault", `No action was taken: ${visible(textOf(reply.fault))}${reply.reason === undefined ? "" : `. It was told: ${visible(textOf(reply.reason))}`}`));
    if (reply.note !== undefined) box.appendChild(make("p", "", `The provider's words: ${visible(textOf(reply.note))}`));
    const text = make("pre", "said");
    text.dir = "auto";
    box.appendChild(text);
    putText(text, reply.text, "replies.jsonl");
    place.appendChild(box);
  });
}

/* What was sent is kept as what differs from the request before; put together from the first one on. */
function requestAt(step) {
  let entries = [];
  for (let s = 0; s < step; s++) {
    const [head, tail, middle] = DATA.sent.requests[s];
    entries = entries.slice(0, head).concat(middle, tail ? entries.slice(entries.length - tail) : []);
  }
  return entries;
}
const ROLES = { "-1": "system", "-2": "user", "-3": "assistant" };
function showSent() {
  at("sent-note").textContent = visible(DATA.sent.note);
  const place = at("sent");
  place.replaceChildren();
  if (now > DATA.sent.requests.length) { at("sent-size").textContent = ""; place.appendChild(make("p", "muted", "This request is not on the page.")); return; }
  const entries = requestAt(now);
  let message = null, lines = [], messages = 0, pictures = 0;
  const flush = () => { if (lines.length && message) { const text = make("pre", "sent-text", lines.join("\n")); text.dir = "auto"; message.appendChild(text); } lines = []; };
  for (let i = 0; i < entries.length; i++) {
    if (ROLES[entries[i]]) {
      flush();
      message = make("div", `message ${ROLES[entries[i]]}`);
      message.appendChild(make("p", "", ROLES[entries[i]]));
      place.appendChild(message);
      messages++;
    } else if (entries[i] === -4) {
      flush();
      const step = entries[++i], href = DATA.pictures[step];
      const words = `picture of step ${step}`;
      if (href) { const link = make("a", "", words); link.href = href; message.appendChild(link); } else message.appendChild(make("p", "", words));
      pictures++;
    } else lines.push(visible(textOf(entries[i])));
  }
  flush();
  place.scrollTop = place.scrollHeight;  // the current observation comes last
  at("sent-size").textContent = `${messages} messages` + (pictures ? `, ${pictures} picture${pictures > 1 ? "s" : ""}` : "");
}

/* --- pictures ----------------------------------------------------------------------------------------------------- */

function showPicture() {
  if (!DATA.has_pictures) return;
  const href = DATA.pictures[now], picture = at("picture"), none = at("no-picture");
  picture.hidden = !href;
  none.hidden = Boolean(href);
  none.textContent = DATA.no_picture;
  if (href) {
    if (picture.getAttribute("src") !== href) picture.src = href;
    picture.alt = `What was in view ${now <= COUNT ? "before decision " + now : "at the end"}`;
    for (const ahead of [1, 2]) if (DATA.pictures[now + ahead]) new Image().src = DATA.pictures[now + ahead];
  }
  at("picture-caption").textContent = now <= COUNT ? `In view before decision ${now}` : "In view at the end";
}
if (at("picture")) at("picture").addEventListener("error", () => {
  at("picture").hidden = true;
  at("no-picture").hidden = false;
  at("no-picture").textContent = DATA.no_picture;
});

/* --- all together ------------------------------------------------------------------------------------------------- */

function show() {
  const step = DATA.steps[now - 1], slider = at("slider");
  slider.value = String(now);
  const words = step ? `decision ${now}: ${visible(step.a)}, ${errorOf(step) ? ERROR_NAMES[errorOf(step)] : kindOf(step)}` : "end";
  slider.setAttribute("aria-valuetext", words);
  if (timer === null) at("live").textContent = words;
  const [a, ae, b, be, c, d] = SO_FAR[Math.min(now, COUNT)];
  const rates = { "exploration-lenient": [a, ae], "exploitation-lenient": [b, be], "exploration-strict": [c, ae], "exploitation-strict": [d, be] };
  for (const name in rates) { const cell = at(`so-far-${name}`); if (cell) cell.textContent = rate(...rates[name]); }
  const place = errors.indexOf(now);
  at("error-count").textContent = errors.length ? (place >= 0 ? `${place + 1} of ${errors.length}` : `${errors.length} error${errors.length > 1 ? "s" : ""}`) : "no errors";
  at("error-back").disabled = !errors.some((s) => s < now);
  at("error-on").disabled = !errors.some((s) => s > now);
  for (const each of STRIPS) each.cursor();
  showPicture();
  showView(now);
  showWords();
  keepHash();
}

function setReading() {
  if (at("reading")) reading = at("reading").value;
  errors = DATA.steps.map((step, i) => (errorOf(step) ? i + 1 : 0)).filter(Boolean);
}

function marksLegend() {
  const list = at("marks");
  for (const [kind, text] of [["explore", "exploration error"], ["exploit", "exploitation error"], ["both", "both"], ["progress", "progress"], ["gain", "gain"], ["unscored", "not scored"]]) {
    legendItem(list, markIcon(kind), text, `is-${kind}`);
  }
  legendItem(list, markIcon("found"), DATA.event_names[1], "is-progress");
  legendItem(list, markIcon("star"), DATA.event_names[2], "is-progress");
}

at("slider").max = String(END);
at("slider").addEventListener("input", (event) => { stop(); go(Number(event.target.value)); });
for (const [id, act] of [
  ["first", () => { stop(); go(1); }], ["back", () => { stop(); go(now - 1); }], ["on", () => { stop(); go(now + 1); }], ["last", () => { stop(); go(END); }],
  ["play", toggle], ["error-back", () => nextError(-1)], ["error-on", () => nextError(1)], ["help-button", () => at("help").showModal()],
]) at(id).addEventListener("click", act);
at("speed").addEventListener("change", () => { if (timer !== null) play(); });
if (at("reading")) at("reading").addEventListener("change", () => { setReading(); repaint(); show(); });
at("sent-details").addEventListener("toggle", () => { if (at("sent-details").open && DATA.sent) showSent(); });

const KEYS = {
  ArrowLeft: () => { stop(); go(now - 1); }, ArrowRight: () => { stop(); go(now + 1); },
  "[": () => nextError(-1), "]": () => nextError(1),
  Home: () => { stop(); go(1); }, End: () => { stop(); go(END); },
  " ": toggle, "?": () => at("help").showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  const target = event.target instanceof Element ? event.target : document.body;
  /* A select has its own keys; a space on something that can be pressed presses it. */
  if (target.closest("select") || (event.key === " " && target.closest("button, summary, a"))) return;
  if (event.shiftKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    event.preventDefault();
    nextError(event.key === "ArrowRight" ? 1 : -1);
  } else if (KEYS[event.key]) {
    event.preventDefault();
    KEYS[event.key]();
  } else if (/^[1-9]$/.test(event.key)) {
    at("speed").value = String(SPEEDS[Number(event.key) - 1]);
    if (timer !== null) play();
  }
});
window.addEventListener("hashchange", () => { const step = fromHash(); if (step !== null && step !== now) { stop(); go(step); } });
new ResizeObserver(repaint).observe(document.querySelector(".deck"));
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);

marksLegend();
setReading();
repaint();
go(fromHash() || 1);
