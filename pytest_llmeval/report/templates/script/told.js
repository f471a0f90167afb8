// The texts that stand on a sample's page: each stands once, and where it comes again, a button leads to it.

class Told {
  constructor() { this.texts = new Map(); }

  // Draws a text, or says where it stands already.
  once(value, name, draw) {
    const key = JSON.stringify(value);
    const before = this.texts.get(key);
    if (before) return el("p", { class: "quiet again" }, "The same as ", leadTo(before.name, before.place), ".");
    const place = draw();
    if (beginning(value)) this.texts.set(key, { name, place });
    return place;
  }
}

// A button, as a link would change the address.
function leadTo(name, place) {
  return on(el("button", { type: "button", class: "lead-to" }, name), "click", () => {
    for (let fold = place.closest("details:not([open])"); fold; fold = fold.parentElement.closest("details:not([open])")) fold.open = true;
    place.scrollIntoView({ block: "center" });
    place.querySelector(".box, img")?.focus({ preventScroll: true });
  });
}
