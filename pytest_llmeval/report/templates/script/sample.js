// The page of one sample.

// A formula is drawn above its text; an answer that is a whole reply is prose.
function answerPanel(title, value, { isFormula, isReply, told }) {
  if (value === null) return el("div", { class: "panel" }, el("h3", {}, title), el("p", { class: "quiet" }, "none in the demanded form"));
  const name = title.toLowerCase();
  const drawn = isFormula || beginning(value).includes("\\") ? formula(beginning(value), true) : null;
  const shape = drawn && el("div", { class: "formula scroll", tabindex: "0", role: "group", "aria-label": `${title} as a formula` }, drawn);
  const text = isReply ? told.once(value, `the ${name}`, () => prose(value, title, 3)) : box(value, title, drawn ? "code" : "prose");
  return el("div", { class: "panel" }, el("h3", {}, title), isReply ? null : shape, text);
}

function answersOf(row, evidence, told) {
  const replies = new Set((evidence.events || []).filter((event) => event.reply && !event.scorer).map((event) => JSON.stringify(event.reply.text)));
  const isReply = replies.has(JSON.stringify(evidence.answer));
  return el("div", { class: "pair answers" }, answerPanel("Answer", evidence.answer, { isFormula: evidence.formulas, isReply, told }),
    answerPanel("Target", evidence.target, { isFormula: evidence.formulas, isReply: false, told }));
}

function whereFrom(evidence) {
  if (evidence.recorded) return "recorded reply";
  if (!evidence.cached) return null;
  return evidence.age === null ? "cached from another run" : `cached from another run, ${count(Math.round(evidence.age / 3600))} h old`;
}

function factsOf(row, evidence) {
  return facts([["stop reason", evidence.stop], ["tokens in", count(evidence.usage.input_tokens)], ["tokens out", count(evidence.usage.output_tokens)],
    ["requests", evidence.usage.requests], ["cost", evidence.usage.cost === null ? null : money(evidence.usage.cost)], ["seconds", seconds(row.seconds)],
    ["answer", whereFrom(evidence)], ["reports", evidence.reports > 1 ? evidence.reports : null],
    ["engine", evidence.stands_in_for ? `${evidence.engine}, not ${evidence.stands_in_for}` : evidence.engine || null],
    ...Object.entries(evidence.groups).map(([name, values]) => [name, values.join(", ")])]);
}

// The question as the dataset has it; null for a sample that was never asked, in runs of earlier versions.
function questionAsked(question, told) {
  if (question === null) return null;
  const show = (digest) => told.once(digest, "a picture of the question", () => picture(digest, "Picture of the question"));
  return section("Question", beginning(question.text) ? told.once(question.text, "the question", () => prose(question.text, "Question", 3, "prose asked")) : null, question.images.map(show));
}

function whatHappened(row, evidence) {
  const troubled = row.outcome === "error" || row.outcome === "not run" || !evidence.scores.length;
  return troubled && beginning(evidence.explanation) ? section("What happened", box(evidence.explanation, "What happened", "code failed")) : null;
}

function recordOf(evidence) {
  const record = { details: evidence.details, versions: evidence.versions, worker: evidence.worker };
  return section("Record", el("p", { class: "quiet" }, "This sample again, from the folder of the project:"), box(evidence.command, "the command that runs this sample again", "code"),
    foldable("Details and versions", false, box(JSON.stringify(record, null, 2), "Details and versions")));
}

// The messages of the first request stand before the answer, if it went to the model under test.
function evidenceBody(row, evidence, told) {
  const steps = stepsOf(evidence);
  const opening = steps.findIndex((step) => step.kind !== "message" || step.event !== steps[0].event || step.event.role !== "solver");
  const [prompt, rest] = [steps.slice(0, opening), steps.slice(opening)];
  return [
    whatHappened(row, evidence),
    prompt.length ? section("Prompt", el("div", { class: "prompt" }, prompt.map((step) => messageOf(step.message, told)))) : null,
    answersOf(row, evidence, told), differenceOf(row, evidence),
    evidence.scores.length ? section("Scores", evidence.scores.map(scoreCard)) : null,
    section("Steps", factsOf(row, evidence), evidence.events === null ? el("p", { class: "quiet" }, "No transcript was kept of this sample.") : [timeline(evidence.events), stepList(rest, told)]),
    recordOf(evidence),
  ];
}

function sampleHead(row, shown) {
  const at = shown.indexOf(row);
  const step = (by, name, key) => {
    const other = at < 0 ? undefined : shown[at + by];
    return el("a", other ? { class: "button", href: addressOf(other), rel: by < 0 ? "prev" : "next" } : { class: "button", "aria-disabled": "true" }, name, " ", el("kbd", {}, key));
  };
  const about = [partName(row.part), MODELS.length > 1 ? row.part.model : null, row.epoch > 1 ? `epoch ${row.epoch}` : null].filter(Boolean).join(" · ");
  return [
    el("nav", { class: "steps", "aria-label": "Samples" }, el("a", { class: "button", href: withState(state) }, "All samples ", el("kbd", {}, "Esc")), step(-1, "Previous", "k"), step(1, "Next", "j"),
      el("span", { class: "quiet" }, at < 0 ? "" : `${count(at + 1)} of ${count(shown.length)}`)),
    el("p", { class: "eyebrow" }, said(about)),
    el("h2", { tabindex: "-1" }, "Sample ", said(row.sample), " ", pill(row.outcome)),
    el("div", { class: "tools" }, rawSwitch(), copyButton(() => new URL(addressOf(row), location.href).href, "link to this sample", "Copy link")),
  ];
}

// A long prompt, or question with much to read, ends with what is asked, so its end is what is seen first.
function showEnds(place) {
  for (const shown of place.querySelectorAll(".prompt .box, .asked")) {
    if (shown.scrollHeight <= shown.clientHeight + 1) continue;
    shown.scrollTop = shown.scrollHeight;
    shown.after(el("p", { class: "quiet end" }, "The end of a longer text; scroll up for its beginning."));
  }
}

async function drawSample(row, shown, place) {
  beginReading();
  delete place.dataset.drawn;
  place.replaceChildren(...sampleHead(row, shown));
  place.querySelector("h2").focus({ preventScroll: true });
  const [question, evidence] = await Promise.all([questionOf(row), evidenceOf(row)]);
  if (place.dataset.number !== String(row.number)) return; // another sample was opened meanwhile
  const told = new Told();
  const asked = questionAsked(question, told); // first, so that it stands here and not in the prompt
  const body = evidence === null ? [note(lackOf(row))]
    : evidenceBody(row, evidence, told);
  place.append(...[asked, allAnswers(row), ...body, SOURCE.panel && SOURCE.panel(row)].filter(Boolean));
  showEnds(place);
  place.dataset.drawn = addressOf(row);
}
