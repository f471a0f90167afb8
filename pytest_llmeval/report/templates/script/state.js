// How far a run is, in words.

const moment = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hour12: false, timeZone: "UTC" });
const startedText = (started) => (started === null ? "no date" : moment.format(new Date(started * 1000)));

const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function duration(number) {
  const [unit, size] = UNITS.find(([, one]) => number >= one) || UNITS.at(-1);
  return `${Math.round(number / size)} ${unit}`;
}

const STATES = { running: "correct", ended: "not-run", "cut off": "incorrect" };

function statePill(run) {
  return el("span", { class: `pill state ${STATES[run.state]} ${run.state.replace(" ", "-")}` }, run.state);
}

function rowsText(run) {
  return run.done === run.planned ? count(run.done) : `${count(run.done)} of ${count(run.planned)}`;
}

// What is told of a run beside its state: when news came last, and how long it takes still.
function newsText(run) {
  if (run.state === "ended") return "";
  const last = run.age < 5 ? "news just now" : `last news ${duration(run.age)} ago`;
  return run.left === null || run.state !== "running" ? last : `about ${duration(Math.max(1, run.left))} left, ${last}`;
}

const percent = (value) => (value === null ? "–" : `${(100 * value).toFixed(1)} %`);
const intervalText = (entry) => (entry.low === null ? "–" : `${(100 * entry.low).toFixed(1)}–${(100 * entry.high).toFixed(1)}`);
const runAddress = (name) => `/runs/${encodeURIComponent(name)}/`;

function whisker(entry, series) {
  const place = (share) => `${(100 * share).toFixed(3)}%`;
  return svg("svg", { class: `whisker s${series % 6}`, "aria-hidden": "true", height: 20 },
    [0, 25, 50, 75, 100].map((x) => svg("line", { class: "grid", x1: `${x}%`, x2: `${x}%`, y1: 0, y2: 20 })),
    entry.low === null ? null : svg("rect", { class: "interval", x: place(entry.low), width: place(entry.high - entry.low), y: 7, height: 6, rx: 3 }),
    entry.value === null ? null : svg("circle", { class: "value", cx: place(entry.value), cy: 10, r: 4.5 }));
}
