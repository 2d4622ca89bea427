// References, what covers what, and looking.
// A reference is a name for one element for as long as it lives; the numbers come from Python, so that none is given
// twice in a window, whatever pages and frames come and go.
class Registry {
  constructor(ask, tell) {
    Object.assign(this, {
      ask,
      tell,
      next: 1,
      last: 0,
      turn: 0,
      refs: new WeakMap(),
      elements: new Map(),
      known: new Map(),
      listeners: new WeakMap(),
      anyone: false,
      hovers: false,
      observes: false,
      moving: false,
      stand_in: new WeakMap(),
      busy: 0,
      roots: new WeakSet(),
      watch: () => {},
    });
    window.addEventListener(tell, (event) => this.told(event), true);
  }
  told(event) {
    if (event.detail === 0) {
      this.busy = event.screenX;
      this.hovers = event.ctrlKey;
      this.observes = event.shiftKey;
      this.moving = event.altKey;
      return;
    }
    const e = event.relatedTarget || event.composedPath()[0];
    if (!(e instanceof Element) || e === bodyOf(document) || e === rootElement(document)) return;
    if (event.detail === 1) {
      this.listeners.set(e, 1);
      this.anyone = true;
    } else if (!this.listeners.has(e)) this.listeners.set(e, event.detail);
  }
  news() {
    this.busy = 0;
    window.dispatchEvent(new Event(this.ask));
    return this.busy;
  }
  listens(e) {
    return this.listeners.get(e);
  }
  // Where numbers begin now, and where those end that are known to have been given here: what was given beyond that, by
  // an answer that nobody heard, is taken back.
  begin([next, known]) {
    for (; this.last > known; this.last--) {
      const e = this.get("e" + (this.last - 1));
      if (e) this.refs.delete(e);
      this.elements.delete("e" + (this.last - 1));
    }
    this.next = next;
    this.turn++;
  }
  ref(e) {
    let ref = this.refs.get(e);
    if (!ref) {
      ref = "e" + this.next++;
      this.last = this.next;
      this.refs.set(e, ref);
      this.elements.set(ref, new WeakRef(e));
    }
    return ref;
  }
  get(ref) {
    return this.elements.get(ref)?.deref();
  }
}

const layerOf = (e, accept) => {
  for (let p = e; p && p !== bodyOf(document); p = above(p)) if (accept(getComputedStyle(p).position, p)) return p;
  return null;
};
const tops = (found) =>
  found
    .filter((e) => !found.some((other) => other !== e && within(e, other)))
    .sort((a, b) => (Node.prototype.compareDocumentPosition.call(a, b) & 4 ? -1 : 1));
const GRID = 12;
// What lies above the rest of the page, where something covers the rest: a modal dialog, or a layer over the window.
const uncovered = () => {
  const modals = [...docAll(document, "dialog:modal")].filter((e) => rendered(e));
  if (modals.length) {
    const b = box(modals[modals.length - 1]),
      seen = hit(b.left + b.width / 2, b.top + Math.min(b.height / 2, 20));
    const top = modals.find((m) => seen && within(seen, m)) || modals[modals.length - 1];
    return tops([top, ...[...docAll(document, ":popover-open")].filter((p) => !within(p, top))]);
  }
  const width = innerWidth,
    height = innerHeight;
  const corners = [
    [3, 3],
    [width - 4, 3],
    [3, height - 4],
    [width - 4, height - 4],
  ].map(([x, y]) => hit(x, y));
  const still = scrollHeight(rootElement(document)) <= height + 20;
  const covers = (position, e) => {
    if (position !== "fixed" && !(still && position === "absolute")) return false;
    const b = box(e);
    return b.left <= 3 && b.top <= 3 && b.right >= width - 4 && b.bottom >= height - 4;
  };
  const layer = corners[0] && layerOf(corners[0], covers);
  if (!layer || corners.filter((c) => c && within(c, layer)).length < 3) return null;
  const found = new Set([layer]);
  // False where something lies above that is no layer: then the first one is a backdrop behind the page, and hides nothing.
  const over = (seen) => {
    if (!seen || within(seen, layer)) return true;
    const own = layerOf(seen, (position, p) => (position === "fixed" || position === "absolute") && !within(layer, p));
    if (own) found.add(own);
    return own !== null;
  };
  for (let i = 0; i < GRID * GRID; i++)
    if (!over(hit((((i % GRID) + 0.5) * width) / GRID, ((Math.floor(i / GRID) + 0.5) * height) / GRID))) return null;
  for (const leaf of docAll(document, "body *")) {
    if (firstElement(leaf) || shadow(leaf) || within(leaf, layer)) continue;
    const b = box(leaf),
      x = b.left + b.width / 2,
      y = b.top + b.height / 2;
    if (!b.width || !b.height || x < 0 || y < 0 || x >= width || y >= height) continue;
    const seen = hit(x, y);
    if (seen && within(seen, leaf) && !over(seen)) return null;
  }
  return tops([...found]);
};

const eyes = {
  registry: null,
  start(ask, tell) {
    this.registry = new Registry(ask, tell);
    this.observe();
    return this;
  },
  walk() {
    labels.forget();
    this.registry.news();
    const w = new Walk(this.registry),
      body = bodyOf(document) || rootElement(document);
    if (!body) return w;
    const roots = uncovered();
    if (roots) {
      const hidden = [...docAll(document, INTERACTIVE)].filter(
        (e) => rendered(e) && !roots.some((r) => within(e, r)),
      ).length;
      if (hidden) w.emit(`(${hidden} controls of the page are covered and not shown)`);
    }
    for (const root of roots || [body]) child(w, root, { pointer: false, mute: false, label: false });
    w.flush();
    if (w.stopped) w.emit("(the page goes on: only so much of it is described)");
    return w;
  },
  look(next) {
    const { registry } = this;
    registry.begin(next);
    const w = this.walk(),
      root = rootElement(document);
    registry.known = new Map(
      w.found.filter(([e]) => registry.refs.has(e)).map(([e, role, name]) => [registry.refs.get(e), [role, name]]),
    );
    const text = w.lines
      .map(([depth, said, frame]) => "  ".repeat(depth) + said + (frame ? "\u0001" + frame : ""))
      .join("\n");
    const most = root ? scrollHeight(root) - innerHeight : 0;
    return {
      next: registry.next,
      text,
      frames: w.frames,
      title: quote(clean(titleOf(document)), 200),
      url: address(location.href),
      scroll: most > 4 ? [Math.round(scrollY), most] : null,
    };
  },
  // Elements by role and name, as they were or would be printed.
  match(next, role, name) {
    const { registry } = this,
      wanted = clean(name);
    registry.begin(next);
    const found = this.walk().found,
      alike = (said) => said === wanted || (said.length > 150 && wanted.startsWith(said.slice(0, 150)));
    const exact = found.filter(([, r, n]) => r === role && alike(n));
    const give = (list) => list.slice(0, 20).map(([e, r, n]) => [registry.ref(e), r, named(n)]);
    const frames = this.frames();
    if (exact.length || role !== "text") {
      const near = exact.length ? [] : give(nearest(found, role, wanted));
      return { next: registry.next, exact: give(exact), near, frames };
    }
    const texts = [...docAll(document, "body *")].filter((e) => clean(textOf(e)) === wanted && rendered(e));
    const deepest = texts.filter((e) => !texts.some((other) => other !== e && holds(e, other)));
    const exactly = give(deepest.map((e) => [e, "text", wanted]));
    return { next: registry.next, exact: exactly, near: [], frames };
  },
};
const titleOf = getter(Document, "title");
const nearest = (found, role, wanted) => {
  const low = wanted.toLowerCase();
  const score = ([, r, n]) => {
    const m = n.toLowerCase();
    return (r === role ? 2 : 0) + (m === low ? 3 : low && m && (m.includes(low) || low.includes(m)) ? 2 : 0);
  };
  return found
    .map((one) => [score(one), one])
    .filter(([s]) => s >= 2)
    .sort((a, b) => b[0] - a[0])
    .slice(0, 5)
    .map(([, one]) => one);
};
