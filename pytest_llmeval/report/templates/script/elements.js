// Elements that the server describes as [name, attributes, children], put in the place of those that stand there.

const OF_READER = ["open", "hidden"];

function built(tree, inSvg = false) {
  if (typeof tree === "string") return document.createTextNode(tree);
  const [name, attributes, children] = tree;
  const within = inSvg || name === "svg";
  return make(within ? SVG : HTML, name, attributes, children.map((child) => built(child, within)));
}

// Makes an element what the tree says and keeps the elements that stay: what is focused, opened or scrolled in it is so after.
// An element with an id that comes empty is one that scripts fill, and is left alone.
function renew(element, tree) {
  const [, attributes, children] = tree;
  if (attributes.id && !children.length) return;
  for (const name of element.getAttributeNames()) if (!(name in attributes) && !OF_READER.includes(name)) element.removeAttribute(name);
  for (const [name, value] of Object.entries(attributes)) if (element.getAttribute(name) !== value && !OF_READER.includes(name)) element.setAttribute(name, value);
  renewChildren(element, children);
}

function renewChildren(element, children) {
  const inSvg = element.namespaceURI === SVG;
  children.forEach((child, at) => {
    const old = element.childNodes[at];
    if (old === undefined) element.append(built(child, inSvg));
    else if (typeof child === "string" && old.nodeType === Node.TEXT_NODE) old.data !== child && (old.data = child);
    else if (typeof child !== "string" && old.nodeType === Node.ELEMENT_NODE && old.localName === child[0].toLowerCase() && old.id === (child[1].id || "")) renew(old, child);
    else old.replaceWith(built(child, inSvg));
  });
  while (element.childNodes.length > children.length) element.lastChild.remove();
}

// Removes blanks that only part elements, as the server leaves them out.
function tidy(element) {
  for (const node of [...element.childNodes]) {
    if (node.nodeType === Node.TEXT_NODE && !node.data.trim() && node.data.includes("\n")) node.remove();
    else if (node.nodeType === Node.COMMENT_NODE) node.remove();
    else if (node.nodeType === Node.ELEMENT_NODE) tidy(node);
  }
}
