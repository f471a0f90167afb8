// The steps of a sample as elements.

const kindOf = (event) => ({ tool_use: "tool", note: "note" })[event.event] || (event.scorer ? "judge" : "model");

// What a step is called: a model by its role, unless it is the one under test.
const kindName = (event) => (event.role && event.role !== "solver" ? said(event.role) : kindOf(event));

const timeOf = (event) => (event.reply ? event.reply.latency : event.seconds) || 0;
const timeText = (time) => `${time < 0.05 ? "<0.1" : seconds(time)} s`;

function stepTitle(event) {
  const time = timeOf(event);
  return [el("span", { class: `kind ${kindOf(event)}` }, kindName(event)), " ", said(event.stage), time ? el("span", { class: "quiet" }, ` ${timeText(time)}`) : null];
}

function messageParts(message, told, name) {
  const parts = message.parts.map((part) => (part.image === undefined ? told.once(part, name, () => prose(part, name, 4))
    : told.once(part.image, `the picture of ${name}`, () => picture(part.image, `Picture in ${name}`))));
  return [parts, message.tools.map((call) => callWritten(call))];
}

function messageOf(message, told) {
  const long = message.parts.some((part) => part.image === undefined && beginning(part).length > 1500);
  return foldable(said(message.role), !(message.role === "system" && long), messageParts(message, told, `the ${message.role} message`));
}

// The arguments of a call: its only text as that text, all else as the JSON that the model wrote.
function callWritten(call) {
  const values = Object.entries(parsed(beginning(call.arguments)) ?? {});
  const [[key, only]] = values.length === 1 ? values : [[]];
  const alone = typeof only === "string" && !isCut(call.arguments);
  return [el("p", { class: "quiet" }, "calls ", el("code", {}, said(call.name)), alone ? [" with ", el("code", {}, said(key))] : null),
    box(alone ? only : call.arguments, `Arguments of ${call.name}`, "code")];
}

// What a tool gave, in the form in which the model was told it, if it was told.
function givenTo(uses, message, told) {
  const name = `the output of ${uses.length ? uses[0].event.tool : "the call"}`;
  const shown = message ? textOf(message) : null;
  const apart = uses.filter(({ event }) => !event.toldBelow && (shown === null || !shown.includes(givenBy(event))));
  return [
    apart.map(({ event }) => told.once(event.error ?? event.output, name, () => box(event.error ?? event.output, event.error ? "Error of the tool" : "Output of the tool", event.error ? "code failed" : "code"))),
    message ? message.parts.map((part) => (part.image === undefined ? told.once(part, name, () => box(part, "What the model was told", uses.some(({ event }) => event.error) ? "code failed" : "code"))
      : picture(part.image, `Picture of ${name}`))) : null,
    uses.map(({ event }) => useFacts(event)),
  ];
}

function useFacts(event) {
  return [
    event.cut ? el("p", { class: "cut" }, said(`Shortened: ${event.cut}`)) : null,
    event.stands_in_for ? el("p", { class: "cut" }, said(`It stands in for ${event.stands_in_for}, which may answer otherwise.`)) : null,
    el("p", { class: "quiet" }, said([event.tool, event.error ? "refused or failed" : event.count ? `${count(event.count)} in the result` : "", `${(1000 * event.seconds).toFixed(1)} ms`].filter(Boolean).join(" · "))),
  ];
}

function callOf({ call, uses, told: message }, told) {
  return el("div", { class: "call" }, callWritten(call),
    uses.length || message ? [el("p", { class: "what" }, "Output"), givenTo(uses, message, told)] : el("p", { class: "quiet" }, "No output: it was not run, or the model was not told."));
}

const parametersOf = (event) => foldable(`Request of ${event.messages.length === 1 ? "1 message" : `${event.messages.length} messages`}`, false,
  box(isCut(event.parameters) ? event.parameters : JSON.stringify(event.parameters, null, 2), "Parameters of the request"));

function replyOf(step, told) {
  const { event, event: { reply } } = step;
  const tokens = [`${count(reply.usage.input_tokens || 0)} tokens in`, `${count(reply.usage.output_tokens || 0)} out`, reply.usage.reasoning_tokens ? `${count(reply.usage.reasoning_tokens)} of these reasoning` : ""];
  const more = [reply.stop === "stop" ? "" : `ended by ${reply.stop}`, event.attempts > 1 ? `${event.attempts} attempts` : "", event.cached ? "from the store" : ""];
  return [
    beginning(reply.reasoning) ? foldable("Reasoning that the model shows", false, prose(reply.reasoning, "Reasoning", 5)) : null,
    beginning(reply.text) || !(reply.tools.length || reply.images.length) ? told.once(reply.text, `the reply of ${event.stage}`, () => prose(reply.text, `Reply of ${event.stage}`, 4, "prose answered")) : null,
    reply.images.map((digest) => picture(digest, `Picture made in ${event.stage}`)),
    step.calls.map((call) => callOf(call, told)),
    el("p", { class: "quiet" }, said([reply.model || event.model, tokens.filter(Boolean).join(", "), ...more].filter(Boolean).join(" · "))),
    parametersOf(event),
  ];
}

const failureOf = ({ event }) => [el("p", { class: "what" }, "Failed"), box(event.error, "Why the request came to nothing", "code failed"), parametersOf(event)];

// A use of a tool that no call of a reply asked for, such as a query that stands in the reply's text.
function toolOf(step, told, before) {
  const { event } = step;
  const asReplied = before && beginning(event.input) && beginning(before.event.reply.text).includes(beginning(event.input));
  return [
    asReplied ? el("p", { class: "quiet" }, "Its input stands in the reply above.") : [el("p", { class: "what" }, "Input"), box(event.input, "Input of the tool, as the model wrote it", "code")],
    step.toldBelow && !step.told ? [el("p", { class: "quiet" }, "Its output stands below, as the model was told it."), useFacts(event)]
      : [el("p", { class: "what" }, event.error ? "Refused or failed" : "Output"), givenTo([step], step.told, told)],
  ];
}

// The new messages of a request stand with what became of it.
function stepOf({ step, asked }, told, before) {
  const { event } = step;
  const bodies = { reply: () => replyOf(step, told), failed: () => failureOf(step), tool: () => toolOf(step, told, before), note: () => told.once(event.text, "the note", () => prose(event.text, "Note", 4)) };
  const messages = asked.map(({ message }) => messageOf(message, told));
  return el("li", {}, foldable(el("span", {}, stepTitle(event)), kindOf(event) !== "judge", messages, bodies[step.kind]()));
}

function stepList(steps, told) {
  let before = null;
  let asked = [];
  const drawn = [];
  for (const step of steps) {
    if (step.kind === "message") asked.push(step);
    else {
      drawn.push(stepOf({ step, asked }, told, before));
      asked = [];
    }
    if (step.kind === "reply") before = step;
  }
  return el("ol", { class: "stages" }, drawn);
}

// The stages one after the other, each as long as it took.
function timeline(events) {
  const timed = events.filter((event) => timeOf(event) > 0);
  const total = timed.reduce((sum, event) => sum + timeOf(event), 0);
  if (!total) return null;
  let left = 0;
  const bars = timed.map((event) => {
    const time = timeOf(event);
    const bar = svg("rect", { class: kindOf(event), x: `${(100 * left) / total}%`, width: `${(100 * time) / total}%`, y: 0, height: 14 }, svg("title", {}, `${event.stage}: ${seconds(time)} s`));
    left += time;
    return bar;
  });
  const text = timed.map((event) => `${event.stage} ${timeText(timeOf(event))}`).join(", ");
  return el("div", { class: "timeline" }, svg("svg", { height: 14, role: "img", "aria-label": `Time by stage: ${text}` }, bars), el("p", { class: "quiet" }, said(`${seconds(total)} s in all: ${text}`)));
}
