// Reading a document that may not want to be read. Part 1 of what _eyes.py puts into a world of ours in each frame, where
// no script of the page can see it or change what it calls. But a form or a document can still shadow the properties of
// its own object (<input name=parentNode>), hence every read goes through the getter of the prototype.
const bound = (method) => Function.prototype.call.bind(method);
const getter = (type, name) => bound(Object.getOwnPropertyDescriptor(type.prototype, name).get);
const firstChild = getter(Node, "firstChild"),
  nextSibling = getter(Node, "nextSibling"),
  parentNode = getter(Node, "parentNode");
const nodeType = getter(Node, "nodeType"),
  data = getter(CharacterData, "data"),
  textOf = getter(Node, "textContent");
const connected = getter(Node, "isConnected"),
  rootOf = bound(Node.prototype.getRootNode),
  holds = bound(Node.prototype.contains);
const tagOf = getter(Element, "localName"),
  shadow = getter(Element, "shadowRoot"),
  slotOf = getter(Element, "assignedSlot");
const attr = bound(Element.prototype.getAttribute),
  has = bound(Element.prototype.hasAttribute);
const first = bound(Element.prototype.querySelector),
  all = bound(Element.prototype.querySelectorAll);
const matches = bound(Element.prototype.matches),
  closest = bound(Element.prototype.closest);
const firstElement = getter(Element, "firstElementChild");
const box = bound(Element.prototype.getBoundingClientRect),
  rendered = bound(Element.prototype.checkVisibility);
const bodyOf = getter(Document, "body"),
  rootElement = getter(Document, "documentElement"),
  readyState = getter(Document, "readyState"),
  imagesOf = getter(Document, "images");
const docAll = bound(Document.prototype.querySelectorAll),
  docFirst = bound(Document.prototype.querySelector);
const queryAll = (root, css) =>
  root instanceof Document ? docAll(root, css) : bound(DocumentFragment.prototype.querySelectorAll)(root, css);
const activeInDocument = getter(Document, "activeElement");
const scrollHeight = getter(Element, "scrollHeight"),
  clientHeight = getter(Element, "clientHeight"),
  scrollTop = getter(Element, "scrollTop");
const scrollWidth = getter(Element, "scrollWidth"),
  clientWidth = getter(Element, "clientWidth"),
  scrollLeft = getter(Element, "scrollLeft");
const editable = getter(HTMLElement, "isContentEditable"),
  innerText = getter(HTMLElement, "innerText");

const parentOf = (n) => (nodeType(n) === 1 && slotOf(n)) || parentNode(n) || (n instanceof ShadowRoot ? n.host : null);
const above = (e) => {
  for (let p = parentOf(e); p; p = parentOf(p)) if (nodeType(p) === 1) return p;
  return null;
};
const within = (e, root) => {
  for (let p = e; p; p = parentOf(p)) if (p === root) return true;
  return false;
};
const hit = (x, y) => {
  let found = Document.prototype.elementFromPoint.call(document, x, y);
  for (let root = found && shadow(found); root; root = found && shadow(found)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === found) break;
    found = inner;
  }
  return found;
};
