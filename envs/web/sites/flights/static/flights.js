// What the site does in the browser: suggest places while one types, show the return date when it counts, fill in saved travellers.
"use strict";

const places = (document.getElementById("places")?.content.textContent || "").split("|");

function suggest(input) {
  const list = document.getElementById(input.getAttribute("aria-controls"));
  let at = -1;
  const close = () => { list.hidden = true; list.replaceChildren(); at = -1; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); };
  const take = (text) => { input.value = text; close(); };
  const show = () => {
    const text = input.value.trim().toLowerCase();
    const exact = places.some((place) => place.toLowerCase() === text);
    const found = text && !exact ? places.filter((place) => place.toLowerCase().split(/[ (]+/).some((_, n, words) => words.slice(n).join(" ").startsWith(text)) || place.toLowerCase().startsWith(text)) : [];
    close();
    if (!found.length) return;
    found.slice(0, 7).forEach((place, n) => {
      const option = document.createElement("li");
      option.id = `${list.id}-${n}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.textContent = place;
      option.addEventListener("mousedown", (event) => event.preventDefault());
      option.addEventListener("click", () => take(place));
      list.append(option);
    });
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  };
  const mark = (next) => {
    const options = list.children;
    if (options[at]) options[at].setAttribute("aria-selected", "false");
    at = (next + options.length) % options.length;
    options[at].setAttribute("aria-selected", "true");
    options[at].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", options[at].id);
  };
  input.addEventListener("input", show);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    if (event.key === "ArrowDown") mark(at + 1);
    else if (event.key === "ArrowUp") mark(at < 0 ? -1 : at - 1);
    else if (event.key === "Enter" && at >= 0) take(list.children[at].textContent);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
  });
}
for (const input of document.querySelectorAll("[data-place]")) suggest(input);

const back = document.querySelector("[data-return]");
if (back) {
  const input = back.querySelector("input");
  const set = () => { const one = document.querySelector("[name=trip][value=one-way]").checked; back.hidden = one; input.disabled = one; };
  for (const radio of document.querySelectorAll("[name=trip]")) radio.addEventListener("change", set);
  set();
}

for (const select of document.querySelectorAll("[data-fill]")) {
  select.addEventListener("change", () => {
    const saved = select.selectedOptions[0].dataset;
    for (const name of Object.keys(saved)) document.getElementById(`${name}-${select.dataset.fill}`).value = saved[name];
  });
}

if (matchMedia("(max-width: 640px)").matches) for (const fold of document.querySelectorAll("[data-fold]")) fold.open = false;
