// Runs in the page's own world before any script of the page: notes who listens to the mouse and what is still to
// come (timers, requests), and makes chance and time the same in every run. Tells it to our own world through events
// whose name the page does not know. CONFIG and CLOCK (clock.js) are filled in by _eyes.py.
((config) => {
  const { ask, tell, seed, now } = config;
  const apply = Reflect.apply;
  const listen = EventTarget.prototype.addEventListener;
  const dispatch = EventTarget.prototype.dispatchEvent;
  const Mouse = MouseEvent,
    Shadow = ShadowRoot,
    rootOf = Node.prototype.getRootNode;
  const GoodDate = Date;
  const { min, max, imul } = Math;
  const mapSet = Map.prototype.set;
  const mapDelete = Map.prototype.delete;
  const push = Array.prototype.push;

  // A stand-in that looks native: its toString says so, as the page may check.
  const wrap = (owner, name, around) => {
    const native = owner[name];
    if (typeof native === "function") {
      owner[name] = new Proxy(native, { __proto__: null, apply: (target, self, args) => around(target, self, args) });
    }
  };

  // --- who listens ---
  const POINTER = {
    __proto__: null,
    click: 1,
    dblclick: 1,
    mousedown: 1,
    mouseup: 1,
    pointerdown: 1,
    pointerup: 1,
    touchstart: 1,
    touchend: 1,
  };
  const HOVER = { __proto__: null, mouseenter: 1, mouseover: 1, pointerenter: 1 };
  const MOVES = { __proto__: null };
  for (const kind of ["mouse", "pointer"])
    for (const what of ["over", "enter", "out", "leave", "move", "rawupdate"]) MOVES[kind + what] = 1;
  let hovers = false;
  let heard = [];
  const note = (target, type) => {
    const kind = POINTER[type] ? 1 : HOVER[type] ? 2 : 0;
    if (kind) apply(push, heard, [[target, kind]]);
  };
  wrap(EventTarget.prototype, "addEventListener", (native, self, args) => {
    if (typeof args[0] === "string" && args[1]) {
      if (MOVES[args[0]]) hovers = true;
      if (self && self !== window) note(self, args[0]);
    }
    return apply(native, self, args);
  });
  const handlers = (owners, types, seen) => {
    for (const owner of owners) {
      for (const type in types) {
        const found = Object.getOwnPropertyDescriptor(owner, "on" + type);
        if (!found || !found.set) continue;
        const set = new Proxy(found.set, {
          __proto__: null,
          apply(target, self, args) {
            if (typeof args[0] === "function") seen(self, type);
            return apply(target, self, args);
          },
        });
        Object.defineProperty(owner, "on" + type, { ...found, set });
      }
    }
  };
  const elements = [HTMLElement.prototype, SVGElement.prototype];
  handlers(elements, POINTER, note);
  handlers([...elements, Document.prototype, window], MOVES, () => {
    hovers = true;
  });

  // --- what is still to come ---
  const SOON = 1000,
    QUICK = 50,
    IDLE = 200,
    PICTURE = 5000,
    STEPS = 8,
    FRAME = 16,
    STEP = 4;
  const later = window.setTimeout;
  const timers = new Map(),
    frames = new Map();
  // How many timers lie between what the page is doing and its beginning, and how long they have taken together. Few
  // are waited for whatever they take, and many as long as they take no longer than a movement does.
  const NONE = { __proto__: null, steps: 0, spent: 0 },
    ENOUGH = { __proto__: null, steps: STEPS, spent: SOON };
  const after = (wait) => ({ __proto__: null, steps: chain.steps + 1, spent: chain.spent + max(wait, STEP) });
  const counts = ({ steps, spent }) => steps <= STEPS || spent <= SOON;
  let chain = NONE,
    clock = 0,
    requests = 0;
  // What follows from a timer by promises still belongs to it, so a chain ends with the next task, not with the function.
  const { port1, port2 } = new MessageChannel();
  const post = MessagePort.prototype.postMessage;
  let task = 0;
  port1.onmessage = (event) => {
    if (event.data === task) chain = NONE;
  };
  const passing = (due, depth, work) => {
    clock = max(clock, due);
    chain = depth;
    try {
      return work();
    } finally {
      apply(post, port2, [++task]);
    }
  };
  wrap(window, "setTimeout", (native, self, args) => {
    const [work, delay = 0] = args,
      wait = max(0, +delay || 0),
      due = clock + wait,
      depth = after(wait);
    const over = (run) => {
      apply(mapDelete, timers, [id]);
      return passing(due, depth, run);
    };
    let id;
    if (typeof work === "function") {
      const late = function (...rest) {
        return over(() => apply(work, this, rest));
      };
      id = apply(native, self, [late, ...args.slice(1)]);
    } else {
      // A script as a text. Timers of one length fire in the order in which they were set.
      id = apply(native, self, args);
      if (wait <= SOON) apply(native, window, [() => over(() => {}), wait]);
    }
    if (wait <= SOON && counts(depth)) apply(mapSet, timers, [id, 1]);
    return id;
  });
  wrap(window, "clearTimeout", (native, self, args) => {
    apply(mapDelete, timers, [args[0]]);
    return apply(native, self, args);
  });
  wrap(window, "setInterval", (native, self, args) => {
    const [work, delay = 0] = args;
    if (typeof work !== "function") return apply(native, self, args);
    const every = max(1, +delay || 0);
    let left = every <= QUICK ? SOON / every : 0;
    const id = apply(native, self, [
      function (...rest) {
        if (left-- <= 0) apply(mapDelete, timers, [id]);
        return passing(clock + every, ENOUGH, () => apply(work, this, rest));
      },
      ...args.slice(1),
    ]);
    // A quick one draws a movement, and is waited for as long as such a thing takes; a slow one is a clock of the page.
    if (left > 0) apply(mapSet, timers, [id, 1]);
    return id;
  });
  wrap(window, "clearInterval", (native, self, args) => {
    apply(mapDelete, timers, [args[0]]);
    return apply(native, self, args);
  });
  wrap(window, "requestAnimationFrame", (native, self, args) => {
    const work = args[0],
      depth = after(FRAME);
    if (typeof work !== "function") return apply(native, self, args);
    const id = apply(native, self, [
      (at) => {
        apply(mapDelete, frames, [id]);
        return passing(clock + FRAME, depth, () => work(at));
      },
    ]);
    if (counts(depth)) apply(mapSet, frames, [id, 1]);
    return id;
  });
  wrap(window, "cancelAnimationFrame", (native, self, args) => {
    apply(mapDelete, frames, [args[0]]);
    return apply(native, self, args);
  });
  // Whoever has time left does this then; and a frame may pass before.
  wrap(window, "requestIdleCallback", (native, self, args) => {
    const work = args[0],
      depth = after(0);
    if (typeof work !== "function") return apply(native, self, args);
    const idle = (deadline) => {
      apply(mapDelete, frames, ["idle" + id]);
      return passing(clock, depth, () => work(deadline));
    };
    // A page that is asked over and over may never have any.
    const id = apply(native, self, [idle, { timeout: IDLE, ...args[1] }]);
    if (counts(depth)) apply(mapSet, frames, ["idle" + id, 1]);
    return id;
  });
  wrap(window, "cancelIdleCallback", (native, self, args) => {
    apply(mapDelete, frames, ["idle" + args[0]]);
    return apply(native, self, args);
  });
  // These are told in the frame after a change.
  let observes = false;
  for (const observer of [ResizeObserver, IntersectionObserver])
    wrap(observer.prototype, "observe", (native, self, args) => {
      observes = true;
      return apply(native, self, args);
    });
  const then = Promise.prototype.then;
  // A promise is waited for, and one task more, in which whoever asked for it goes on.
  const begun = () => {
    requests++;
    let going = true;
    return () => {
      if (going) apply(later, window, [() => requests--, 0]);
      going = false;
    };
  };
  const until = (answer) => {
    const done = begun();
    apply(then, answer, [done, done]);
  };
  const awaited = (native, self, args) => {
    const answer = apply(native, self, args);
    until(answer);
    return answer;
  };
  const told = (target, ...ends) => {
    const done = begun();
    for (const end of ends) apply(listen, target, [end, done, { once: true }]);
    return done;
  };
  wrap(window, "fetch", awaited);
  for (const read of ["text", "json", "blob", "arrayBuffer", "formData"]) wrap(Response.prototype, read, awaited);
  for (const read of ["text", "arrayBuffer"]) wrap(Blob.prototype, read, awaited);
  wrap(FontFace.prototype, "load", awaited);
  wrap(Element.prototype, "requestFullscreen", awaited);
  wrap(HTMLDialogElement.prototype, "close", (native, self, args) => {
    if (self.open) told(self, "close");
    return apply(native, self, args);
  });
  for (const how of ["Text", "DataURL", "ArrayBuffer", "BinaryString"])
    wrap(FileReader.prototype, "readAs" + how, (native, self, args) => {
      const answer = apply(native, self, args);
      told(self, "loadend");
      return answer;
    });
  wrap(HTMLCanvasElement.prototype, "toBlob", (native, self, [work, ...rest]) => {
    if (typeof work !== "function") return apply(native, self, [work, ...rest]);
    const done = begun();
    return apply(native, self, [(blob) => (done(), work(blob)), ...rest]);
  });
  // Work that is cut into messages to oneself. Nobody says where a message is read, so they count as one row until
  // there is none for a while.
  let hops = NONE,
    hop = 0;
  const hopped = (native, self, args) => {
    const answer = apply(native, self, args),
      mine = ++hop;
    hops = { __proto__: null, steps: hops.steps + 1, spent: hops.spent + STEP };
    if (counts(hops)) apply(later, window, [begun(), 0]);
    apply(later, window, [() => (hops = mine === hop ? NONE : hops), QUICK]);
    return answer;
  };
  wrap(MessagePort.prototype, "postMessage", hopped);
  wrap(window, "postMessage", hopped);
  wrap(XMLHttpRequest.prototype, "send", (native, self, args) => {
    const done = told(self, "loadend");
    try {
      return apply(native, self, args);
    } catch (error) {
      done();
      throw error;
    }
  });
  wrap(window.Scheduler?.prototype || {}, "postTask", (native, self, [work, options]) => {
    const wait = max(0, +options?.delay || 0),
      due = clock + wait,
      depth = after(wait);
    if (typeof work !== "function") return apply(native, self, [work, options]);
    const done = wait <= SOON && counts(depth) ? begun() : () => {};
    const late = () => {
      done();
      return passing(due, depth, work);
    };
    const answer = apply(native, self, [late, options]);
    // Or it is called off.
    apply(then, answer, [done, done]);
    return answer;
  });
  wrap(Document.prototype, "startViewTransition", (native, self, args) => {
    const moving = apply(native, self, args);
    until(moving.finished);
    return moving;
  });
  const opening = (native, self, args) => {
    const request = apply(native, self, args);
    told(request, "success", "error", "blocked");
    return request;
  };
  for (const name of ["open", "deleteDatabase"]) wrap(IDBFactory.prototype, name, opening);
  wrap(IDBDatabase.prototype, "transaction", (native, self, args) => {
    const transaction = apply(native, self, args);
    told(transaction, "complete", "abort", "error");
    return transaction;
  });
  const Socket = WebSocket;
  window.WebSocket = new Proxy(Socket, {
    __proto__: null,
    construct(target, args, made) {
      const socket = Reflect.construct(target, args, made === window.WebSocket ? target : made);
      told(socket, "open", "error", "close");
      return socket;
    },
  });
  Socket.prototype.constructor = window.WebSocket;
  // Pictures that are in no document; those that are in one are looked for there.
  const pictures = new WeakSet(),
    isIn = WeakSet.prototype.has,
    putIn = WeakSet.prototype.add,
    takeOut = WeakSet.prototype.delete,
    connected = Object.getOwnPropertyDescriptor(Node.prototype, "isConnected").get,
    source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src"),
    loading = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "loading").get;
  Object.defineProperty(HTMLImageElement.prototype, "src", {
    ...source,
    set: new Proxy(source.set, {
      __proto__: null,
      apply(target, self, args) {
        apply(target, self, args);
        if (apply(isIn, pictures, [self]) || apply(connected, self, []) || apply(loading, self, []) === "lazy") return;
        apply(putIn, pictures, [self]);
        // One that is sent for no longer ends without a word.
        apply(later, window, [told(self, "load", "error"), PICTURE]);
        for (const end of ["load", "error"])
          apply(listen, self, [end, () => apply(takeOut, pictures, [self]), { once: true }]);
      },
    }),
  });

  // Movements in shadow trees are none of the document's.
  const shadows = [],
    movements = Shadow.prototype.getAnimations,
    deref = WeakRef.prototype.deref;
  wrap(Element.prototype, "attachShadow", (native, self, args) => {
    const root = apply(native, self, args);
    apply(push, shadows, [new WeakRef(root)]);
    return root;
  });
  const isShort = (animation) =>
    animation.playState === "running" && animation.effect && animation.effect.getComputedTiming().endTime <= SOON;
  const isMoving = () => {
    for (let i = 0; i < shadows.length; i++) {
      const root = apply(deref, shadows[i], []),
        found = root ? apply(movements, root, []) : [];
      for (let j = 0; j < found.length; j++) if (isShort(found[j])) return true;
    }
    return false;
  };

  // --- our own world asks ---
  const sizeOf = Object.getOwnPropertyDescriptor(Map.prototype, "size").get;
  apply(listen, window, [
    ask,
    () => {
      const news = heard;
      heard = [];
      for (let i = 0; i < news.length; i++) {
        const [target, kind] = news[i];
        try {
          // A target inside of a shadow tree would be told as its host, so it tells of itself.
          if (apply(rootOf, target, []) instanceof Shadow)
            apply(dispatch, target, [new Mouse(tell, { detail: kind, composed: true })]);
          else apply(dispatch, window, [new Mouse(tell, { detail: kind, relatedTarget: target })]);
        } catch {
          /* not a node */
        }
      }
      const busy = apply(sizeOf, timers, []) + apply(sizeOf, frames, []) + max(0, requests);
      apply(dispatch, window, [new Mouse(tell, { detail: 0, screenX: min(busy, 1000), ctrlKey: hovers, shiftKey: observes, altKey: isMoving() })]);
    },
  ]);

  CLOCK
})(CONFIG);
