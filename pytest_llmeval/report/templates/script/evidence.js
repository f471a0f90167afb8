// Scores and stages of a sample.

const section = (title, ...children) => el("section", {}, el("h3", {}, title), ...children);

function facts(pairs) {
  const shown = pairs.filter(([, text]) => text !== null && text !== undefined && text !== "");
  return el("dl", { class: "facts" }, shown.map(([name, text]) => el("div", {}, el("dt", {}, name), el("dd", {}, said(String(text))))));
}

function foldable(title, open, ...children) {
  return el("details", { open }, el("summary", {}, title), ...children);
}

const scoreText = (score) => (score.value === null || (score.scale === 1 && score.value % 1 === 0) ? "" : `${Number(score.value.toFixed(score.scale >= 100 ? 1 : 3))} of ${score.scale}`);

// One line of a difference, its words of finding and expecting coloured.
function differenceLine(line) {
  const parts = line.split(/\b(missing|unexpected|found|expected)\b/);
  return el("li", { dir: "auto" }, parts.map((part, at) => (at % 2 ? el("b", { class: part }, part) : el("span", {}, said(part)))));
}

const FINDING = /\b(missing|unexpected|found|expected)\b/;

// Not shown where drawn trees and their edits say the same.
function explanationOf(score) {
  const lines = beginning(score.explanation).split("\n").filter((line) => line.trim());
  if (score.trees || !lines.length) return null;
  if (lines.every((line) => FINDING.test(line))) return el("ul", { class: "differences" }, lines.map(differenceLine));
  return box(score.explanation, `Explanation of ${score.name}`, "prose");
}

// A line of a list; the kind of an edit, its first word, is marked.
function listLine(text) {
  const kind = text.split(" ")[0];
  if (!Object.hasOwn(MARKS, kind)) return el("li", {}, said(text));
  return el("li", {}, el("span", { class: `edit ${kind}` }, kind), " ", said(text.slice(kind.length + 1)));
}

function treesOf(trees) {
  if (!trees || !Array.isArray(trees.answer) || !Array.isArray(trees.target)) return null;
  const drawn = (name, nodes) => el("div", {}, el("h4", {}, name), drawTree(nodes, `Tree of the ${name.toLowerCase()}`));
  return el("div", {}, el("p", { class: "marks" }, Object.keys(MARKS).map((kind) => el("span", { class: `edit ${kind}` }, MARKS[kind]))),
    el("div", { class: "trees" }, drawn("Answer", trees.answer), drawn("Target", trees.target)));
}

const named = (key) => key.replaceAll("_", " ");
const isShort = (value) => typeof value === "number" || typeof value === "boolean" || (typeof value === "string" && value.length < 60 && !value.includes("\n"));
const isTexts = (value) => Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");

// Details by their kind: short values as facts, longer texts, lists of texts; all else as JSON.
function plainDetails(details, trees) {
  const entries = Object.entries(details).filter(([, value]) => value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const short = entries.filter(([, value]) => isShort(value));
  const texts = entries.filter(([, value]) => typeof value === "string" && !isShort(value));
  const lists = entries.filter(([, value]) => isTexts(value));
  const rest = entries.filter(([, value]) => typeof value === "object" && !isTexts(value));
  return [
    facts(short.map(([key, value]) => [named(key), typeof value === "number" ? Number(value.toFixed(4)) : value])),
    texts.map(([key, value]) => el("div", {}, el("p", { class: "quiet" }, said(named(key))), box(value, named(key), "code"))),
    treesOf(trees),
    lists.map(([key, value]) => foldable(said(`${named(key)}: ${value.length}`), value.length <= 20, el("ul", { class: "edits" }, value.map(listLine)))),
    rest.length ? foldable("Details", false, box(JSON.stringify(Object.fromEntries(rest), null, 2), "Details")) : null,
  ];
}

function judgedBy(details) {
  const tally = details.tally || {};
  return facts([["judge", details.judge], ["label", details.label], ["correct", tally.correct], ["incorrect", tally.incorrect], ["lost", tally.lost], ["replies", tally.replies]]);
}

function detailsOf(score) {
  const details = score.details;
  if (isCut(details)) return [box(details, `Details of ${score.name}`), treesOf(score.trees)];
  if (details.tally !== undefined) return [judgedBy(details)];
  return plainDetails(details, score.trees);
}

function scoreCard(score) {
  const decided = score.correct === null ? "unscored" : score.correct ? "correct" : "incorrect";
  return el("article", { class: "score" },
    el("h4", {}, said(score.name), " ", el("b", { class: decided }, scoreText(score)), " ", pill(decided), " ",
      el("span", { class: "quiet" }, said(score.grader), score.decides ? "" : " · does not decide")),
    explanationOf(score), score.decides ? detailsOf(score) : foldable("How it was scored", false, detailsOf(score)));
}

function messageOf(message) {
  const long = message.parts.some((part) => part.image === undefined && beginning(part).length > 1500);
  const parts = message.parts.map((part) => (part.image === undefined ? box(part, `Message of ${message.role}`, "prose") : picture(part.image, `Picture in the ${message.role} message`)));
  return foldable(message.role, !(message.role === "system" && long), parts, message.tools.map(toolCall));
}

function toolCall(call) {
  return el("div", {}, el("p", { class: "quiet" }, "calls ", el("code", {}, said(call.name))), box(call.arguments, "Arguments of the call"));
}

// The messages of a call, of which those that were shown before are only counted.
function asked(event, evidence, seen) {
  const fresh = event.messages.filter((number) => !seen.has(number));
  event.messages.forEach((number) => seen.add(number));
  const before = event.messages.length - fresh.length;
  return [
    before ? el("p", { class: "quiet" }, `${before === 1 ? "1 message" : `${before} messages`} as above`) : null,
    fresh.map((number) => messageOf(evidence.messages[number])),
  ];
}

const parametersOf = (event) => foldable("Parameters", false, box(isCut(event.parameters) ? event.parameters : JSON.stringify(event.parameters, null, 2), "Parameters of the request"));

function callOf(event, evidence, seen) {
  const reply = event.reply;
  return [
    asked(event, evidence, seen),
    beginning(reply.reasoning) ? foldable("Reasoning that the model shows", false, box(reply.reasoning, "Reasoning", "prose")) : null,
    el("div", { class: "reply" }, el("h5", {}, "Reply", reply.stop === "stop" ? "" : ` · ended by ${reply.stop}`), box(reply.text, `Reply of stage ${event.stage}`, "prose"),
      reply.images.map((digest) => picture(digest, `Picture made in stage ${event.stage}`)), reply.tools.map(toolCall)),
    facts([["model", reply.model || event.model], ["seconds", seconds(reply.latency)], ["tokens in", count(reply.usage.input_tokens || 0)],
      ["tokens out", count(reply.usage.output_tokens || 0)], ["of these reasoning", reply.usage.reasoning_tokens ? count(reply.usage.reasoning_tokens) : null],
      ["attempts", event.attempts > 1 ? event.attempts : null], ["from the store", event.cached ? "yes" : null]]),
    parametersOf(event),
  ];
}

function failureOf(event, evidence, seen) {
  return [asked(event, evidence, seen), el("h5", {}, "Failed"), box(event.error, "Why the request came to nothing", "code failed"), parametersOf(event)];
}

function toolUseOf(event) {
  return [
    el("h5", {}, "Input"), box(event.input, "Input of the tool, as the model wrote it", "code"),
    event.error ? [el("h5", {}, "Refused or failed"), box(event.error, "Error of the tool", "code failed")]
      : [el("h5", {}, "Output"), box(event.output, "Output of the tool", "code")],
    event.cut ? el("p", { class: "cut" }, said(`Shortened: ${event.cut}`)) : null,
    event.stands_in_for ? el("p", { class: "cut" }, said(`It stands in for ${event.stands_in_for}, which may answer otherwise.`)) : null,
    facts([["tool", event.tool], ["count", event.error ? null : count(event.count)], ["milliseconds", (1000 * event.seconds).toFixed(1)]]),
  ];
}

const kindOf = (event) => ({ tool_use: "tool", note: "note" })[event.event] || (event.scorer ? "judge" : "model");

// What a stage is called: a model by its role, unless it is the one under test.
const kindName = (event) => (event.role && event.role !== "solver" ? said(event.role) : kindOf(event));

function stageOf(event, number, evidence, seen) {
  const kind = kindOf(event);
  const bodies = { model_call: callOf, failed_call: failureOf, tool_use: toolUseOf, note: () => box(event.text, "Note", "prose") };
  const body = bodies[event.event](event, evidence, seen);
  const time = event.reply ? event.reply.latency : event.seconds;
  const title = el("span", {}, el("span", { class: `kind ${kind}` }, kindName(event)), " ", said(event.stage), time === undefined ? null : el("span", { class: "quiet" }, ` ${time < 0.05 ? "<0.1" : seconds(time)} s`));
  return el("li", { id: `stage-${number}` }, foldable(title, kind !== "judge", body));
}

// The stages one after the other, each as long as it took.
function timeline(events) {
  const steps = events.map((event, number) => ({ number, event, time: (event.reply ? event.reply.latency : event.seconds) || 0 })).filter((step) => step.time > 0);
  const total = steps.reduce((sum, step) => sum + step.time, 0);
  if (!total) return null;
  let left = 0;
  const bars = steps.map(({ event, time }) => {
    const bar = svg("rect", { class: kindOf(event), x: `${(100 * left) / total}%`, width: `${(100 * time) / total}%`, y: 0, height: 14 }, svg("title", {}, `${event.stage}: ${seconds(time)} s`));
    left += time;
    return bar;
  });
  const text = steps.map(({ event, time }) => `${event.stage} ${time < 0.05 ? "<0.1" : seconds(time)} s`).join(", ");
  return el("div", { class: "timeline" }, svg("svg", { height: 14, role: "img", "aria-label": `Time by stage: ${text}` }, bars), el("p", { class: "quiet" }, said(`${seconds(total)} s in all: ${text}`)));
}
