// The page of one sample.

function answerPanel(title, text, tree) {
  const panel = el("div", { class: "panel" }, el("h3", {}, title));
  if (tree) panel.append(el("div", { class: "formula scroll", tabindex: "0", role: "group", "aria-label": `${title} as a formula` }, formula(tree)));
  panel.append(text === null ? el("p", { class: "quiet" }, "none in the demanded form") : box(text, title, tree ? "code" : "prose"));
  return panel;
}

function whereFrom(evidence) {
  if (evidence.recorded) return "recorded reply";
  if (!evidence.cached) return null;
  return evidence.age === null ? "cached from another run" : `cached from another run, ${count(Math.round(evidence.age / 3600))} h old`;
}

function evidenceBody(row, evidence) {
  const seen = new Set();
  const events = evidence.events || [];
  const first = events.find((event) => event.messages && event.role === "solver");
  const prompt = first ? first.messages.map((number) => messageOf(evidence.messages[number])) : [];
  if (first) first.messages.forEach((number) => seen.add(number));
  const troubled = row.outcome === "error" || row.outcome === "not run" || !evidence.scores.length;
  return [
    facts([["stop reason", evidence.stop], ["tokens in", count(evidence.usage.input_tokens)], ["tokens out", count(evidence.usage.output_tokens)],
      ["requests", evidence.usage.requests], ["cost", evidence.usage.cost === null ? null : money(evidence.usage.cost)], ["seconds", seconds(row.seconds)],
      ["answer", whereFrom(evidence)], ["reports", evidence.reports > 1 ? evidence.reports : null],
      ["engine", evidence.stands_in_for ? `${evidence.engine}, not ${evidence.stands_in_for}` : evidence.engine || null],
      ...Object.entries(evidence.groups).map(([name, values]) => [name, values.join(", ")])]),
    troubled && beginning(evidence.explanation) ? section("What happened", box(evidence.explanation, "What happened", "code failed")) : null,
    prompt.length ? section("Prompt", el("div", { class: "prompt" }, prompt)) : null,
    el("div", { class: "pair answers" }, answerPanel("Answer", evidence.answer, evidence.formulas.answer), answerPanel("Target", evidence.target, evidence.formulas.target)),
    evidence.scores.length ? section("Scores", evidence.scores.map(scoreCard)) : null,
    section("Stages", evidence.events === null ? el("p", { class: "quiet" }, "No transcript was kept of this sample.") : timeline(events),
      el("ol", { class: "stages" }, events.map((event, number) => stageOf(event, number, evidence, seen)))),
    section("Record", el("p", {}, "Run it again: ", el("code", {}, said(`pytest "${beginning(evidence.nodeid)}"`))),
      foldable("Details and versions", false, box(JSON.stringify({ details: evidence.details, versions: evidence.versions, worker: evidence.worker }, null, 2), "Details and versions"))),
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
  ];
}

// A long prompt ends with the question, so its end is what is seen first.
function showEnds(place) {
  for (const pre of place.querySelectorAll(".prompt .box")) {
    if (pre.scrollHeight <= pre.clientHeight + 1) continue;
    pre.scrollTop = pre.scrollHeight;
    pre.after(el("p", { class: "quiet end" }, "The end of a longer text; scroll up for its beginning."));
  }
}

async function drawSample(row, shown, place) {
  place.replaceChildren(...sampleHead(row, shown));
  place.querySelector("h2").focus({ preventScroll: true });
  const evidence = await evidenceOf(row);
  if (place.dataset.number !== String(row.number)) return; // another sample was opened meanwhile
  if (evidence === null) place.append(el("p", { class: "cut" }, "This file had no room for the evidence of this sample; it stands in rows.jsonl and transcripts.jsonl of the run's folder."));
  else {
    place.append(...evidenceBody(row, evidence).filter((part) => part !== null));
    showEnds(place);
  }
  if (SOURCE.panel) place.append(SOURCE.panel(row));
}
