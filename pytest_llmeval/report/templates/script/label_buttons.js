// Buttons by which a reader says whether an answer is correct, and who says so.

const NAME = "llmeval-labeller";
const labeller = () => localStorage.getItem(NAME) || "";

// `act` gets true or false; the promise that it returns disables the buttons meanwhile.
function labelButtons(given, act) {
  const problem = el("p", { class: "failed", role: "alert" });
  const button = (correct, name, sign) => on(el("button", { type: "button", class: correct ? "correct" : "incorrect", "aria-pressed": String(given === correct) },
    el("span", { "aria-hidden": "true" }, sign), ` ${name}`), "click", async () => {
    buttons.forEach((one) => { one.disabled = true; });
    problem.textContent = "";
    try {
      await act(correct);
    } catch (error) {
      problem.textContent = `Not kept: ${error.message}`;
    }
    buttons.forEach((one) => { one.disabled = false; });
  });
  const buttons = [button(true, "Correct", "✓"), button(false, "Incorrect", "✗")];
  return el("div", { class: "verdicts" }, buttons, problem);
}

function nameField(changed = () => {}) {
  const input = el("input", { type: "text", maxlength: "80", autocomplete: "name", placeholder: "no name" });
  input.value = labeller();
  on(input, "input", () => { localStorage.setItem(NAME, input.value.trim()); changed(); });
  return el("label", { class: "labeller" }, "Your name", input);
}
