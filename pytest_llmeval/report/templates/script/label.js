// Answers of a run, one after another, without their verdicts.

const ANSWERS = JSON.parse(document.getElementById("data").textContent);
const place = document.getElementById("case");
const given = (answer) => answer.labels[labeller()];
const firstLeft = () => ANSWERS.findIndex((answer) => given(answer) === undefined);
let at = 0;

// A text as it is, or its beginning as {text, of}.
function plainText(value, label) {
  const text = typeof value === "string" ? value : value.text;
  return el("pre", { class: "box prose", tabindex: "0", role: "group", "aria-label": label, dir: "auto" }, text ? said(text) : el("span", { class: "quiet" }, "(empty)"));
}

function panel(title, text) {
  return el("section", { class: "panel" }, el("h3", {}, title), text === null ? el("p", { class: "quiet" }, "none in the demanded form") : plainText(text, title));
}

function partOf(part, pictures) {
  if (part.image === undefined) return plainText(part, "Question");
  const entry = pictures[part.image];
  if (entry?.missing) return el("p", { class: "cut" }, "Picture not shown: ", said(entry.missing));
  return el("figure", { class: "picture" }, el("img", { src: `picture?digest=${part.image}`, alt: "Picture of the question" }));
}

const messagesOf = (evidence, messages) => messages.map((message) => [el("h4", {}, message.role), message.parts.map((part) => partOf(part, evidence.pictures))]);

// The question as the run kept it, and the whole prompt on request; the prompt alone where it kept none.
function question(evidence) {
  const prompt = evidence.prompt.length ? messagesOf(evidence, evidence.prompt) : null;
  if (!evidence.question.length) return [el("section", { class: "prompt" }, el("h3", {}, "Prompt"), prompt || el("p", { class: "quiet" }, "The run did not keep it."))];
  return [el("section", { class: "prompt" }, el("h3", {}, "Question"), evidence.question.map((part) => partOf(part, evidence.pictures))),
    prompt ? el("details", {}, el("summary", {}, "The whole prompt"), prompt) : null];
}

async function keep(answer, correct) {
  await posted("labels", { row: answer.row, correct, labeller: labeller(), blind: true });
  answer.labels[labeller()] = correct;
  await show(firstLeft());
}

function told() {
  const done = ANSWERS.filter((answer) => given(answer) !== undefined).length;
  document.getElementById("found").textContent = `${count(done)} of ${count(ANSWERS.length)} answers labelled${labeller() ? ` by ${labeller()}` : ""}`;
}

async function show(number) {
  at = number < 0 ? ANSWERS.length : number;
  told();
  const answer = ANSWERS[at];
  if (!answer) {
    place.replaceChildren(el("p", { class: "strong", tabindex: "-1" }, "All answers have a label. ", el("a", { href: "./" }, "Back to the run")));
    return;
  }
  const evidence = await fetched(`blind?row=${answer.row}`);
  if (ANSWERS[at] !== answer) return;
  const back = at ? on(el("button", { type: "button" }, "Back"), "click", () => show(at - 1)) : null;
  place.replaceChildren(el("h2", { tabindex: "-1" }, `Answer ${count(at + 1)}`), ...question(evidence).flat().filter(Boolean),
    el("div", { class: "pair answers" }, panel("Answer", evidence.answer), panel("Target", evidence.target)),
    el("div", { class: "deciding" }, labelButtons(given(answer), (correct) => keep(answer, correct)), back));
  for (const pre of place.querySelectorAll(".prompt .box")) pre.scrollTop = pre.scrollHeight;
  place.querySelector("h2").focus();
}

const form = document.getElementById("labeller");
form.append(nameField(() => show(firstLeft())));
on(form, "submit", (event) => event.preventDefault());
const failed = (error) => { document.getElementById("found").textContent = `This answer cannot be shown: ${error.message}`; };
on(window, "unhandledrejection", (event) => failed(event.reason));
show(firstLeft());
