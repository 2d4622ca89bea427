// Selecting, scrolling, files, marks, and coming to rest.
const textNodes = (root) => {
  const found = [],
    visit = (n) => {
      for (let c = firstChild(shadow(n) || n); c; c = nextSibling(c))
        nodeType(c) === 3 ? found.push(c) : nodeType(c) === 1 && visit(c);
    };
  nodeType(root) === 3 ? found.push(root) : visit(root);
  return found;
};
const selectIn = (e, what) => {
  const range = document.createRange(),
    selection = getSelection();
  range.selectNodeContents(e);
  if (what === "end") range.collapse(false);
  selection.removeAllRanges();
  selection.addRange(range);
};
// The range of a text that may run over several nodes, with white space taken as the reader sees it.
const rangeOf = (e, text) => {
  let joined = "";
  const places = [];
  for (const node of textNodes(e)) {
    const words = data(node);
    for (let i = 0; i < words.length; i++) {
      const c = /\s/.test(words[i]) ? " " : words[i];
      if (c === " " && joined.endsWith(" ")) continue;
      joined += c;
      places.push([node, i]);
    }
  }
  const at = joined.indexOf(clean(text));
  if (at < 0) return null;
  const range = document.createRange(),
    last = places[at + clean(text).length - 1];
  range.setStart(...places[at]);
  range.setEnd(last[0], last[1] + 1);
  return range;
};
const scrollable = (e, across) => {
  for (let p = e; p && p !== bodyOf(document) && p !== rootElement(document); p = above(p)) {
    const style = getComputedStyle(p);
    if (
      across
        ? scrollWidth(p) > clientWidth(p) + 1 && /auto|scroll/.test(style.overflowX)
        : (scrollHeight(p) > clientHeight(p) + 1 && /auto|scroll/.test(style.overflowY)) ||
          (tagOf(p) === "textarea" && scrollHeight(p) > clientHeight(p) + 1)
    )
      return p;
  }
  return document.scrollingElement || rootElement(document);
};

// Until the next frame, in which a page is told that it was scrolled; not for ever, where none is drawn.
const drawn = () =>
  new Promise((done) => {
    const late = setTimeout(done, 400);
    requestAnimationFrame(() => {
      clearTimeout(late);
      setTimeout(done);
    });
  });
// Until the document is whole, but no longer than so many ms.
const whole = (ms) =>
  new Promise((done) => {
    const late = setTimeout(done, ms);
    document.addEventListener("readystatechange", () => {
      if (readyState(document) !== "complete") return;
      clearTimeout(late);
      done();
    });
  });
// An image whose size is not known yet, and that is on its way: one that waits to be scrolled to is not.
const pending = (image) => !image.complete && image.loading !== "lazy";
const LOADED =
  "script[src]:is(:not([type]),[type=''],[type=module],[type*=javascript]),link[rel~=stylesheet][href]";
const animationsOf = bound(Document.prototype.getAnimations);
// One that lasts longer is a decoration: it is not waited for at all, whatever is left of it.
const moving = (animation) =>
  animation.playState === "running" && animation.effect && animation.effect.getComputedTiming().endTime <= 1000;

Object.assign(eyes, {
  select(next, ref, text) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    return { ...(e ? this.selected(e, text) : bad), next: this.registry.next };
  },
  selected(e, text) {
    if (tagOf(e) === "input" || tagOf(e) === "textarea") {
      const at = text ? e.value.indexOf(text) : 0;
      if (at < 0) return { why: `it does not hold ${quote(text, 100)}` };
      e.focus();
      e.setSelectionRange(at, text ? at + text.length : e.value.length);
      return { set: true };
    }
    const range = text ? rangeOf(e, text) : document.createRange();
    if (!range) return { why: `it does not hold ${quote(text, 100)}` };
    if (!text) range.selectNodeContents(e);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return { set: true };
  },
  async scroll(next, ref, dx, dy) {
    this.registry.begin(next);
    let start = null;
    if (ref) {
      const { e, ...bad } = this.find(ref);
      if (!e) return { ...bad, next: this.registry.next };
      start = e;
    } else start = hit(innerWidth / 2, innerHeight / 2);
    let area = scrollable(start, dx !== 0);
    const page = area === document.scrollingElement || area === rootElement(document);
    const across = dx !== 0,
      view = across ? (page ? innerWidth : clientWidth(area)) : page ? innerHeight : clientHeight(area);
    const most = Math.max(0, (across ? scrollWidth(area) : scrollHeight(area)) - view),
      before = Math.round(across ? scrollLeft(area) : scrollTop(area));
    area.scrollBy({ left: dx * view, top: dy * view, behavior: "instant" });
    await drawn();
    return { before, after: Math.round(across ? scrollLeft(area) : scrollTop(area)), most, next: this.registry.next };
  },
  files(next, ref, files) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    return { ...(e ? this.filed(e, files) : bad), next: this.registry.next };
  },
  filed(e, files) {
    if (tagOf(e) !== "input" || e.type !== "file") return { why: "it takes no files" };
    if (disabled(e)) return { why: "it is disabled" };
    if (files.length > 1 && !e.multiple) return { why: `it takes one file, not ${files.length}` };
    const transfer = new DataTransfer();
    for (const [name, type, content] of files)
      transfer.items.add(
        new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], name, { type, lastModified: 0 }),
      );
    e.files = transfer.files;
    told(e, "input", "change");
    return { set: true };
  },
  focus(next, ref) {
    this.registry.begin(next);
    const { e, ...bad } = this.find(ref);
    if (!e) return { ...bad, next: this.registry.next };
    const why = hiddenWhy(e) || (disabled(e) ? "it is disabled" : "");
    if (!why) e.focus();
    return { why, next: this.registry.next };
  },
  frames() {
    return docFirst(document, "iframe,frame") ? 1 : 0;
  },
  async drawn(frames) {
    for (; frames > 0; frames--) await drawn();
  },
  marks() {
    const found = [];
    for (const [e, ,] of this.walk().found) {
      const ref = this.registry.refs.get(e),
        b = ref && box(e);
      if (b && b.width > 0 && b.height > 0 && b.bottom > 0 && b.right > 0 && b.top < innerHeight && b.left < innerWidth)
        found.push([ref, b.left, b.top, b.width, b.height]);
    }
    return found;
  },
  // Where the document in a frame's element begins.
  inside(ref) {
    const e = this.registry.get(ref),
      b = e && box(e),
      style = e && getComputedStyle(e);
    return b
      ? [
          b.left + parseFloat(style.borderLeftWidth) + parseFloat(style.paddingLeft),
          b.top + parseFloat(style.borderTopWidth) + parseFloat(style.paddingTop),
        ]
      : [0, 0];
  },

  // --- coming to rest ---
  observe() {
    this.changes = 0;
    this.left = -Infinity;
    this.coming = new Map();
    this.place = "0 0";
    const observer = new MutationObserver((list) => {
      this.changes += list.length;
      // What a document holds from the beginning has come when it is whole.
      if (readyState(document) !== "complete") return;
      for (const { addedNodes, attributeName, target } of list) {
        addedNodes.forEach(this.expect, this);
        if (attributeName === "src" || attributeName === "href") this.expect(target);
      }
    });
    for (const type of ["load", "error"])
      document.addEventListener(type, (event) => this.coming.delete(event.target), true);
    const whole = { subtree: true, childList: true, attributes: true, characterData: true };
    observer.observe(document, whole);
    this.registry.watch = (root) => {
      if (!this.registry.roots.has(root)) {
        this.registry.roots.add(root);
        observer.observe(root, whole);
      }
    };
    if (window.navigation) {
      navigation.addEventListener("navigate", (event) => {
        if (!event.destination.sameDocument && event.downloadRequest === null) this.left = performance.now();
      });
    }
  },
  expect(node) {
    if (nodeType(node) !== 1) return;
    for (const e of [node, ...all(node, LOADED)]) if (matches(e, LOADED)) this.coming.set(e, performance.now());
  },
  // Scripts and style sheets that were put in so lately that the gateway may not know of them yet, or that it has sent
  // since it was asked last. Some never come (a script in a text that was put in), so neither is waited for any longer.
  awaited() {
    const now = performance.now();
    for (const [e, since] of this.coming) if (!connected(e) || now - since > 5000) this.coming.delete(e);
    return [...this.coming.values()].some((since) => now - since < 400 || now - this.asked < 150);
  },
  // Soon after a page wants to leave, the browser knows of it and waits by itself; or it will stay (an attachment, mailto).
  leaving() {
    return performance.now() - this.left < 300;
  },
  quiet() {
    return (
      this.registry.news() === 0 &&
      !this.leaving() &&
      !this.awaited() &&
      readyState(document) === "complete" &&
      !Array.prototype.some.call(imagesOf(document), pending) &&
      !this.moves()
    );
  },
  moves() {
    const found = this.registry.moving || animationsOf(document).some(moving);
    if (found) this.moved = true;
    return found;
  },
  // Whether something is told in the next frame: that a movement is over, or that the page was scrolled.
  untold() {
    const at = `${scrollX} ${scrollY}`,
      found = this.moved || at !== this.place;
    this.moved = false;
    this.place = at;
    return found;
  },
  // Where something else was asked meanwhile, nobody waits for this answer any more, and a look would number anew.
  async rested(next, cap) {
    this.registry.begin(next);
    const { turn } = this.registry,
      said = await this.settle(cap);
    return turn === this.registry.turn ? { ...this.look(next), said } : { said: "overtaken", next: next[0] };
  },
  // Whether anything has happened since it was asked last, and what `settle` says.
  async calm(cap) {
    const before = this.restedAt;
    this.waited = false;
    const said = await this.settle(cap);
    this.restedAt = this.changes;
    return [this.waited || before !== this.changes, said];
  },
  // Resolves with "quiet", or with what is still going on after `cap` ms.
  async settle(cap) {
    this.asked = performance.now();
    const end = this.asked + cap,
      turn = () =>
        new Promise((next) => {
          const c = new MessageChannel();
          c.port1.onmessage = () => next();
          c.port2.postMessage(0);
        });
    const pause = (ms) => new Promise((next) => setTimeout(next, ms));
    if (readyState(document) !== "complete") await whole(cap);
    let seen = -1,
      drawnAt = -1;
    for (let round = 0; ; round++) {
      await turn();
      if (this.quiet() && this.changes === seen) {
        if (performance.now() <= end && this.untold()) {
          await drawn();
          continue;
        }
        if (!this.registry.observes || drawnAt === seen) return "quiet";
        // Who watches sizes or what is visible is told of a change in the next frame, or after it.
        drawnAt = seen;
        for (let frame = 0; frame < 2; frame++) await drawn();
        continue;
      }
      if (performance.now() > end)
        return this.leaving()
          ? "a page is loading"
          : readyState(document) !== "complete"
            ? "the page is still loading"
            : "the page is busy";
      if (this.quiet()) {
        seen = this.changes;
        if (round > 0) await pause(2);
        continue;
      }
      this.waited = true;
      await pause(round < 5 ? 1 : 5);
    }
  },
});
