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

function explanationOf(score) {
  const lines = beginning(score.explanation).split("\n").filter((line) => line.trim());
  const edits = score.details.edits;
  if (score.name.startsWith("EED") && Array.isArray(edits) && edits.length) return null;
  if (score.name === "SLDP") return el("ul", { class: "differences" }, lines.map(differenceLine));
  return lines.length ? box(score.explanation, `Explanation of ${score.name}`, "prose") : null;
}

function editLine(edit) {
  const kind = edit.split(" ")[0];
  return el("li", {}, el("span", { class: `edit ${kind}` }, kind), " ", said(edit.slice(kind.length + 1)));
}

function treesOf(details) {
  const trees = details.trees;
  if (!trees) return null;
  const drawn = (name, nodes) => el("div", {}, el("h4", {}, name), drawTree(nodes, `Tree of the ${name.toLowerCase()}`));
  return el("div", {}, el("p", { class: "marks" }, ["relabel", "delete", "insert"].map((kind) => el("span", { class: `edit ${kind}` }, MARKS[kind]))),
    el("div", { class: "trees" }, drawn("Answer", trees.answer), drawn("Target", trees.target)));
}

function formulasOf(details) {
  const edits = Array.isArray(details.edits) ? details.edits : [];
  return [
    facts([["reading", details.reading], ["distance", details.distance], ["nodes of the target", details.tree_size],
      ["relative distance", details.relative_distance === null ? null : Number(details.relative_distance.toFixed(4))]]),
    details.answer ? el("dl", { class: "read" }, el("dt", {}, "answer as read"), el("dd", {}, el("code", {}, said(details.answer))),
      el("dt", {}, "target as read"), el("dd", {}, el("code", {}, said(details.target)))) : null,
    details.assumptions.length ? el("p", { class: "quiet" }, `Assumed: ${details.assumptions.join("; ")}.`) : null,
    treesOf(details),
    edits.length ? foldable(`Edits from answer to target: ${edits.length}`, edits.length <= 20, el("ul", { class: "edits" }, edits.map(editLine))) : null,
  ];
}

function judgedBy(details) {
  const tally = details.tally || {};
  return facts([["judge", details.judge], ["equivalent", tally.equivalent], ["different", tally.different], ["lost", tally.lost], ["replies", tally.replies]]);
}

function detailsOf(score) {
  const details = score.details;
  if (isCut(details)) return [box(details, `Details of ${score.name}`)];
  if (details.reading !== undefined && Array.isArray(details.assumptions)) return formulasOf(details);
  if (details.tally !== undefined) return [judgedBy(details)];
  return Object.keys(details).length ? [foldable("Details", false, box(JSON.stringify(details, null, 2), `Details of ${score.name}`))] : [];
}

function scoreCard(score) {
  const decided = score.correct === null ? "unscored" : score.correct ? "correct" : "incorrect";
  return el("article", { class: "score" },
    el("h4", {}, said(score.name), " ", el("b", { class: decided }, scoreText(score)), " ", pill(decided), " ",
      el("span", { class: "quiet" }, said(score.grader), score.decides ? "" : " · shown beside, decides nothing")),
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

function queryOf(event) {
  return [
    el("h5", {}, "Cypher"), box(event.cypher, "Cypher as the model wrote it", "code"),
    event.executed ? [el("h5", {}, "As it ran"), box(event.executed, "Cypher as it ran", "code")] : null,
    event.error ? [el("h5", {}, "Refused or failed"), box(event.error, "Why the query gave nothing", "code failed")]
      : [el("h5", {}, `Rows: ${count(event.row_count)}`), box(event.text, "Rows of the query", "code")],
    event.cut ? el("p", { class: "cut" }, said(`Shortened: ${event.cut}`)) : null,
    event.uncertain ? el("p", { class: "cut" }, said(`Neo4j might answer otherwise: ${event.uncertain}`)) : null,
    facts([["engine", event.engine], ["milliseconds", (1000 * event.seconds).toFixed(1)]]),
  ];
}

const kindOf = (event) => ({ graph_query: "query", note: "note" })[event.event] || (event.role === "judge" ? "judge" : "model");

function stageOf(event, number, evidence, seen) {
  const kind = kindOf(event);
  const bodies = { model_call: callOf, failed_call: failureOf, graph_query: queryOf, note: () => box(event.text, "Note", "prose") };
  const body = bodies[event.event](event, evidence, seen);
  const time = event.reply ? event.reply.latency : event.seconds;
  const title = el("span", {}, el("span", { class: `kind ${kind}` }, kind), " ", said(event.stage), time === undefined ? null : el("span", { class: "quiet" }, ` ${time < 0.05 ? "<0.1" : seconds(time)} s`));
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
