// Labels on a sample's page: those that its answer has, and buttons for one's own.

const labelsAt = new Map();

async function renewLabels() {
  const news = await fetched("labels", { again: true });
  if (news !== null) keepLabels(news);
}

function keepLabels(list) {
  labelsAt.clear();
  for (const [place, given] of list) labelsAt.set(place, given);
  const panel = document.querySelector(".labels");
  if (panel && !panel.contains(document.activeElement)) drawLabels(panel, Number(panel.dataset.place));
}

function drawLabels(panel, place) {
  const given = labelsAt.get(place) || {};
  const names = Object.keys(given);
  const told = names.map((name) => el("li", {}, said(name || "no name"), ": ", pill(given[name] ? "correct" : "incorrect")));
  panel.replaceChildren(
    el("h3", {}, "Labels"),
    names.length ? el("ul", { class: "told" }, told) : el("p", { class: "quiet" }, "Nobody has labelled this answer."),
    el("div", { class: "deciding" }, nameField(() => {}), labelButtons(given[labeller()], async (correct) => {
      keepLabels(await posted("labels", { row: place, correct, labeller: labeller() }));
      drawLabels(panel, place);
      panel.querySelector("button[aria-pressed=true]")?.focus();
    })),
    el("p", { class: "quiet" }, "A label that is given here is kept for reading and for validations. Accuracy is corrected by answers that were drawn at random and are labelled without their verdict: ", el("a", { href: "label" }, "label answers"), "."));
}

function labelPanel(row) {
  const panel = el("section", { class: "labels", "data-place": row.place[0] });
  drawLabels(panel, row.place[0]);
  return panel;
}
