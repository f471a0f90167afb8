// Copying: the text as it is stored, never what is drawn of it.

const spoken = el("p", { class: "hidden", role: "status" });
document.body.append(spoken);

function announce(text) {
  spoken.textContent = "";
  setTimeout(() => { spoken.textContent = text; }, 50); // the same text twice is spoken twice
}

// Where a page from disk has no clipboard of its own: a selection that is copied, its text given by the event.
function copySelected(text) {
  const before = document.activeElement;
  const field = el("textarea", { class: "hidden", "aria-hidden": "true", tabindex: "-1" });
  const give = (event) => { event.clipboardData.setData("text/plain", text); event.preventDefault(); };
  field.value = "text";
  document.body.append(field);
  field.select();
  document.addEventListener("copy", give);
  const done = document.execCommand("copy");
  document.removeEventListener("copy", give);
  field.remove();
  before?.focus({ preventScroll: true });
  return done;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // there is none, or it is not allowed
    return copySelected(text);
  }
}

// `text` is a text, or a function that returns it when the button is pressed.
function copyButton(text, name, label = "Copy") {
  const button = el("button", { type: "button", class: "copy", "aria-label": `Copy ${name}` }, label);
  return on(button, "click", async () => {
    const done = await copyText(typeof text === "function" ? text() : text);
    button.textContent = done ? "Copied" : "Not copied";
    announce(done ? `Copied ${name}` : `${name} was not copied: the browser does not allow it`);
    setTimeout(() => { button.textContent = label; }, 1500);
  });
}
