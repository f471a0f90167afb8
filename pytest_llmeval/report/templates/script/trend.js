// The accuracy of a task over the runs: a plot, and a table of the same numbers.

const DATA = JSON.parse(document.getElementById("data").textContent);
const HEIGHT = 320;
const [TOP, BOTTOM, LEFT, RIGHT] = [26, 34, 46, 20];
const STEP = 26;
const SHIFT = 6;
let points = DATA.points;

const unique = (values) => [...new Set(values)];
const seriesName = (point) => (unique(points.map((one) => one.test)).length > 1 ? `${point.model} · ${point.test}` : point.model);
const changeText = (point) => point.changed.map((name) => (name === "data" ? "other data" : `other grader of ${name}`)).join(", ");
const fromTop = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);

function pointText(point) {
  return `${startedText(point.started)}, ${seriesName(point)}: ${percent(point.value)}, 95 % ${intervalText(point)}, n ${count(point.scored)}${point.state === "ended" ? "" : `, ${point.state}`}${point.changed.length ? `; ${changeText(point)} than the run before` : ""}`;
}

function axis(width) {
  return [0, 0.25, 0.5, 0.75, 1].map((share) => [
    svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: fromTop(share), y2: fromTop(share) }),
    svg("text", { class: "tick side", x: LEFT - 8, y: fromTop(share) + 4 }, `${100 * share}${share === 1 ? " %" : ""}`)]);
}

// Days below the plot, as many as have room.
function days(runs, at) {
  let end = -Infinity;
  return runs.flatMap((run) => {
    const text = run.started === null ? "" : new Date(run.started * 1000).toISOString().slice(5, 16).replace("T", " ");
    if (!text || at(run.run) - 38 < end) return [];
    end = at(run.run) + 38;
    return [svg("text", { class: "tick across", x: at(run.run), y: HEIGHT - 12 }, text)];
  });
}

function changes(runs, at, step) {
  let end = -Infinity;
  return runs.flatMap((run) => {
    const names = unique(points.filter((point) => point.run === run.run).flatMap((point) => point.changed));
    if (!names.length) return [];
    const x = at(run.run) - step / 2;
    const text = names.includes("data") ? "data" : "grader";
    const label = x - 20 > end ? [svg("text", { class: "why across", x, y: TOP - 10 }, text)] : [];
    if (label.length) end = x + 20;
    return [svg("line", { class: "change", x1: x, x2: x, y1: TOP - 4, y2: HEIGHT - BOTTOM }), ...label];
  });
}

// A line joins neighbours that can be compared.
function paths(own, at, number) {
  return own.slice(1).map((point, before) => {
    const from = own[before];
    if (point.changed.length || point.value === null || from.value === null) return null;
    return svg("path", { class: `path s${number % 6}`, d: `M${at(from.run)},${fromTop(from.value)} L${at(point.run)},${fromTop(point.value)}` });
  });
}

function mark(point, at, number) {
  if (point.value === null) return null;
  const x = at(point.run);
  return svg("a", { href: runAddress(point.run), class: `s${number % 6}`, "aria-label": pointText(point) }, svg("title", {}, pointText(point)),
    point.low === null ? null : svg("line", { class: "interval", x1: x, x2: x, y1: fromTop(point.low), y2: fromTop(point.high) }),
    svg("circle", { class: point.state === "ended" ? "value" : "open", cx: x, cy: fromTop(point.value), r: 5 }));
}

function plot(series) {
  const runs = [...new Map(points.map((point) => [point.run, point])).values()];
  const room = document.getElementById("trend").clientWidth - 20;
  const step = Math.max(STEP + SHIFT * (series.length - 1), (room - LEFT - RIGHT) / runs.length);
  const width = LEFT + RIGHT + step * runs.length;
  const places = new Map(runs.map((run, number) => [run.run, LEFT + step * (number + 0.5)]));
  const at = (name) => places.get(name);
  const drawing = svg("svg", { width, height: HEIGHT, viewBox: `0 0 ${width} ${HEIGHT}`, role: "group", "aria-label": "Accuracy by run; the table below holds the values" },
    axis(width), changes(runs, at, step), days(runs, at),
    series.map((name, number) => {
      const own = points.filter((point) => seriesName(point) === name);
      const beside = (run) => at(run) + SHIFT * (number - (series.length - 1) / 2);
      return svg("g", {}, paths(own, beside, number), own.map((point) => mark(point, beside, number)));
    }));
  return el("div", { class: "trend scroll", tabindex: "0", role: "region", "aria-label": "Plot of the accuracy by run" }, drawing);
}

function numbers() {
  const lines = [...points].reverse().map((point) => el("tr", {}, el("th", { scope: "row" }, el("a", { href: runAddress(point.run) }, startedText(point.started))),
    el("td", {}, said(seriesName(point))), el("td", { class: "strong" }, percent(point.value)), el("td", { class: "quiet" }, intervalText(point)), el("td", {}, count(point.scored)),
    el("td", {}, point.state), el("td", { class: "changed" }, said(changeText(point)))));
  const heads = ["run (UTC)", "model", "accuracy", "95 %", "scored", "state", "changed since the run before"];
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Accuracy by run as a table" },
    el("table", { class: "figures" }, el("caption", {}, "Accuracy by run, the newest first"), el("thead", {}, el("tr", {}, heads.map((text) => el("th", { scope: "col" }, text)))), el("tbody", {}, lines)));
}

function drawTrend() {
  const place = document.getElementById("trend");
  const series = unique(points.map(seriesName)).sort();
  if (!points.length) {
    place.replaceChildren(el("p", { class: "quiet" }, "No run has rows of this task."));
    return;
  }
  const broken = points.some((point) => point.changed.length);
  place.replaceChildren(
    el("p", { class: "quiet" }, "Runs in the order of their start, each with its 95 % interval; runs that have not ended are rings.",
      broken ? " Between runs on either side of a dashed line data or graders differ: their accuracies are of other things, and cannot be compared." : ""),
    el("p", { class: "series" }, series.map((name, number) => el("span", {}, el("span", { class: `badge s${number % 6}` }, `${number + 1}`), " ", said(name)))),
    plot(series), numbers());
  place.querySelector(".trend").scrollLeft = 1e9;
}

const select = el("select", { id: "by-task" }, DATA.tasks.map(([name, title]) => el("option", { value: name }, said(title))));
select.value = DATA.task;
on(select, "change", () => { location.href = `/trend?${new URLSearchParams({ task: select.value })}`; });
document.getElementById("filters").append(labelled("Task", select));
on(document.getElementById("filters"), "submit", (event) => event.preventDefault());

let width = innerWidth;
on(window, "resize", () => { if (innerWidth !== width) { width = innerWidth; drawTrend(); } });
drawTrend();
every(async () => {
  const news = await fetched(`/api/trend?${new URLSearchParams({ task: DATA.task })}`, { again: true });
  if (news === null || document.getElementById("trend").contains(document.activeElement)) return;
  points = news;
  drawTrend();
}, () => {});
