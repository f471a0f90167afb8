// Formulas: lists of [name, attributes, ...children] become MathML elements, if they are on the list.

const MATHML = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set("math mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle".split(" "));
const ATTRIBUTES = new Set("display stretchy fence accent displaystyle form columnalign linethickness width".split(" "));

function formula(tree) {
  if (typeof tree === "string") return tree.replace(INVISIBLE, "\ufffd");
  const [name, attributes, ...children] = tree;
  if (!ELEMENTS.has(name)) throw new Error("an element that no formula has");
  const kept = Object.entries(attributes).filter(([key]) => ATTRIBUTES.has(key));
  return make(MATHML, name, Object.fromEntries(kept), children.map(formula));
}
