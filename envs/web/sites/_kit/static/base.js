// What every site does in the browser: ask before something that cannot be undone, and send a form when it changes.
"use strict";

// <form data-confirm="Question?" data-confirm-yes="Yes, cancel it">: asks in a dialog before it is sent.
function ask(form, submitter) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "question");
  const question = document.createElement("h2");
  question.id = "question";
  question.textContent = form.dataset.confirm;
  const actions = document.createElement("div");
  actions.className = "actions";
  const button = (text, kind, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = kind;
    made.textContent = text;
    made.addEventListener("click", act);
    actions.append(made);
    return made;
  };
  const no = button(form.dataset.confirmNo || "No, go back", "second", () => dialog.close());
  button(form.dataset.confirmYes || "Yes", "danger", () => { form.dataset.sure = "1"; dialog.close(); form.requestSubmit(submitter || undefined); });
  dialog.append(question, actions);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  no.focus();
}

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.confirm && !form.dataset.sure) {
    event.preventDefault();
    ask(form, event.submitter);
  }
});

// <form data-auto>: sent whenever a field of it changes; its own button is for whoever has no JavaScript.
for (const form of document.querySelectorAll("form[data-auto]")) {
  form.addEventListener("change", () => form.requestSubmit());
  // Enter in a field that has changed means both of it: change and submit.
  form.addEventListener("submit", (event) => { if (form.dataset.sent) event.preventDefault(); form.dataset.sent = "1"; });
  form.addEventListener("formdata", ({ formData }) => {
    if (form.method === "get") for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
  for (const button of form.querySelectorAll("[data-no-script]")) button.hidden = true;
}
