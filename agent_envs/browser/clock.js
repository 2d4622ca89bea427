// Chance and time, the same in every run. Put into init.js, whose names it uses, in place of CLOCK.
// --- chance ---
if (seed !== null) {
  let state = seed ^ history.length;
  // The addresses of blobs are made by real chance.
  for (let i = 0, href = location.protocol === "blob:" ? "blob:" : location.href; i < href.length; i++) state = imul(state ^ href.charCodeAt(i), 16777619);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = imul(state ^ (state >>> 15), 1 | state);
    t = (t + imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  wrap(Math, "random", () => next() / 4294967296);
  wrap(Crypto.prototype, "getRandomValues", (native, self, args) => {
    apply(native, self, args);
    const bytes = new Uint8Array(args[0].buffer, args[0].byteOffset, args[0].byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next();
    return args[0];
  });
  wrap(Crypto.prototype, "randomUUID", () => {
    let hex = "";
    for (let i = 0; i < 4; i++) hex += next().toString(16).padStart(8, "0");
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${"89ab"[next() & 3]}${hex.slice(17, 20)}-${hex.slice(20)}`;
  });
}

// --- time: it passes only as timers fire, so that a debounce fires and two runs still read the same clock ---
if (now !== null) {
  let reads = 0;
  const realNow = GoodDate.now,
    DAY = 86400000;
  const read = () => {
    // Whoever waits by reading the clock over and over must come to an end.
    if (++reads > 10000) clock += 1;
    return now + Math.floor(clock);
  };
  const Fixed = new Proxy(GoodDate, {
    __proto__: null,
    construct: (target, args, made) => Reflect.construct(target, args.length ? args : [read()], made),
    apply: () => new GoodDate(read()).toString(),
  });
  GoodDate.now = new Proxy(GoodDate.now, { __proto__: null, apply: read });
  GoodDate.prototype.constructor = Fixed;
  window.Date = Fixed;
  // Whoever formats no date in particular formats this one.
  const Format = Intl.DateTimeFormat.prototype,
    format = Object.getOwnPropertyDescriptor(Format, "format"),
    formats = new WeakMap();
  const dated = (native, self, args) => apply(native, self, args[0] === undefined ? [read()] : args);
  wrap(Format, "formatToParts", dated);
  const formatOf = (target, self) => {
    const native = apply(target, self, []);
    if (!formats.has(native)) formats.set(native, new Proxy(native, { __proto__: null, apply: dated }));
    return formats.get(native);
  };
  Object.defineProperty(Format, "format", { ...format, get: new Proxy(format.get, { __proto__: null, apply: formatOf }) });
  if (window.Temporal) {
    const { Now, Instant } = Temporal,
      zone = Now.timeZoneId;
    const instant = () => Instant.fromEpochMilliseconds(read());
    const there = (args) => instant().toZonedDateTimeISO(args[0] === undefined ? apply(zone, Now, []) : args[0]);
    wrap(Now, "instant", instant);
    wrap(Now, "zonedDateTimeISO", (native, self, args) => there(args));
    wrap(Now, "plainDateTimeISO", (native, self, args) => there(args).toPlainDateTime());
    wrap(Now, "plainDateISO", (native, self, args) => there(args).toPlainDate());
    wrap(Now, "plainTimeISO", (native, self, args) => there(args).toPlainTime());
  }
  const GoodFile = File;
  window.File = new Proxy(GoodFile, {
    __proto__: null,
    construct: (target, [parts, name, options, ...rest], made) =>
      Reflect.construct(target, [parts, name, { lastModified: read(), ...options }, ...rest], made),
  });
  GoodFile.prototype.constructor = window.File;
  const modified = Object.getOwnPropertyDescriptor(Document.prototype, "lastModified");
  Object.defineProperty(Document.prototype, "lastModified", {
    ...modified,
    get: new Proxy(modified.get, {
      __proto__: null,
      apply(target, self) {
        // Of a document of which nobody has said it, it is the present time.
        const said = apply(target, self, []);
        if (realNow() - new GoodDate(said).getTime() > DAY) return said;
        const at = new GoodDate(read()),
          two = (number) => String(number).padStart(2, "0");
        return `${two(at.getMonth() + 1)}/${two(at.getDate())}/${at.getFullYear()} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
      },
    }),
  });
}
