/* The little that htmx does not do: search suggestions, small form comforts.
   Every page works without this file. */
(() => {
  "use strict";

  const notes = document.getElementById("notes");
  const texts = document.body.dataset; // in the language of the page

  function say(words, mood) {
    const note = document.createElement("div");
    note.className = `note ${mood} toast`;
    note.textContent = words;
    notes.replaceChildren(note);
  }

  document.addEventListener("shop:notice", (event) => say(event.detail.words, event.detail.mood));

  /* Good news floats over the page and leaves by itself; the basket's count stays. */
  new MutationObserver(() => {
    for (const note of notes.querySelectorAll(".good.toast:not([data-leaving])")) {
      note.dataset.leaving = "yes";
      setTimeout(() => note.remove(), 10000);
    }
  }).observe(notes, { childList: true });

  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    const found = new DOMParser().parseFromString(responseText, "text/html").querySelector("p");
    say(found ? found.textContent : texts.refused.replace("{status}", status), "bad");
  });
  document.addEventListener("htmx:sendError", () => say(texts.offline, "bad"));

  for (const button of document.querySelectorAll("[data-print]")) {
    button.addEventListener("click", () => print());
  }

  /* Another country has another form. */
  document.addEventListener("change", (event) => {
    if (event.target.matches("select[name=country]")) event.target.closest(".field").nextElementSibling?.querySelector("[data-update]")?.click();
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-submit-on-change]") && event.target.reportValidity()) event.target.form.requestSubmit();
  });

  /* Filters are counted anew, but the list that something was just chosen from stays: arrow keys walk on in it. */
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target } = event.detail;
    if (target.contains(document.activeElement) && target.querySelector("input:checked:not([value=''])")) event.detail.shouldSwap = false;
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.matches("form[method=post]:not([hx-post])") || event.target.querySelector("[data-submit-on-change]")) return;
    if (event.target.dataset.sent) event.preventDefault();
    else setTimeout(() => delete event.target.dataset.sent, 10_000); // stopped by hand, or answered with a file
    event.target.dataset.sent = "yes";
  });

  /* Loading: the button pressed shows that it is at work, and a bar that the next page is on its way. */
  const bar = Object.assign(document.createElement("div"), { className: "loading-bar", hidden: true, role: "progressbar" });
  bar.setAttribute("aria-label", texts.loading);
  document.body.prepend(bar);
  let coming;

  function loading() {
    clearTimeout(coming);
    coming = setTimeout(() => (bar.hidden = false), 300);
    setTimeout(loaded, 15_000); // a download, or stopped by hand
  }

  function loaded() {
    clearTimeout(coming);
    bar.hidden = true;
    document.querySelectorAll("button[aria-busy]").forEach((button) => button.removeAttribute("aria-busy"));
  }

  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    event.submitter?.setAttribute("aria-busy", "true");
    loading();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const elsewhere = event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || elsewhere || link.target || link.download || link.origin !== location.origin) return;
    if (link.hash && link.pathname === location.pathname && link.search === location.search) return;
    loading();
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.requestConfig.verb !== "get" || event.target.matches("form")) loading();
    event.detail.requestConfig.triggeringEvent?.submitter?.setAttribute("aria-busy", "true");
  });
  document.addEventListener("htmx:afterRequest", loaded);
  addEventListener("pageshow", () => {
    loaded();
    document.querySelectorAll("[data-sent]").forEach((form) => delete form.dataset.sent);
  });

  /* A value's link and the basket's button are of the variant that is shown: who chooses a size and at once a colour, or buys, does so when the size is shown. */
  let choosing = null; // the link whose page is on its way
  const next = new Map(); // by option, where to click then
  const optionOf = (link) => link.id.split("-")[1];
  document.addEventListener("htmx:confirm", (event) => {
    const { elt } = event.detail;
    const buys = elt.matches(".buy-form");
    if (!buys && !elt.matches(".choice-value")) return;
    if (choosing && (buys || optionOf(choosing) !== optionOf(elt))) {
      event.preventDefault();
      if (buys) next.set("basket", ".buy-form .buy");
      else next.set(optionOf(elt), `#${elt.id}[hx-get]`);
    } else if (!buys) choosing = elt;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig.elt !== choosing) return;
    choosing = null;
    if (!event.detail.successful) next.delete("basket");
    for (const [option, selector] of next) {
      next.delete(option);
      document.querySelector(selector)?.click(); // none where it is shown or sold out
      if (choosing) return;
    }
  });

  /* What went wrong has the focus, also where the browser knows `autofocus` for inputs only. */
  document.querySelector("[role=alert][autofocus]")?.focus();

  /* Suggestions: a combobox whose list the server draws. */
  const input = document.querySelector("[data-suggest]");
  const list = document.getElementById("suggestions");
  const status = document.getElementById("suggestions-status");
  const answers = new Map();
  let chosen = -1;
  let asked = 0;
  let waiting;

  const options = () => [...list.querySelectorAll("[role=option]")];

  function show(open) {
    list.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    status.textContent = open ? texts.suggested.replace("{count}", options().length) : "";
    if (!open) choose(-1);
  }

  function choose(index) {
    const all = options();
    chosen = all.length ? (index + all.length + 1) % (all.length + 1) : -1;
    if (index < 0 || chosen === all.length) chosen = -1;
    all.forEach((option, place) => option.setAttribute("aria-selected", String(place === chosen)));
    if (chosen < 0) input.removeAttribute("aria-activedescendant");
    else {
      input.setAttribute("aria-activedescendant", all[chosen].id);
      all[chosen].scrollIntoView({ block: "nearest" });
    }
  }

  async function suggest() {
    const words = input.value.trim();
    const number = ++asked;
    if (words.length < 2) return show(false);
    const answer = answers.get(words) ?? (await suggestionsFor(words));
    if (number !== asked) return;
    if (answer === null) return show(false);
    answers.set(words, answer);
    list.innerHTML = answer;
    choose(-1);
    show(options().length > 0 && document.activeElement === input);
  }

  /* Null when the shop does not answer: the box is a plain search form then. */
  async function suggestionsFor(words) {
    try {
      const answer = await fetch(`${input.dataset.suggest}?q=${encodeURIComponent(words)}`, { headers: { "HX-Request": "true" } });
      return answer.ok ? await answer.text() : null;
    } catch {
      return null;
    }
  }

  if (input && list) {
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", texts.suggestions);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-expanded": "false", "aria-controls": "suggestions", "aria-autocomplete": "list" })) input.setAttribute(name, value);
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(suggest, 150);
    });
    input.addEventListener("keydown", (event) => {
      if (list.hidden) {
        if (event.key !== "ArrowDown" || !options().length || input.value.trim().length < 2) return;
        show(true);
        choose(0);
      } else if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen < 0 ? options().length - 1 : chosen - 1);
      else if (event.key === "Escape") show(false);
      else if (event.key === "Enter" && chosen >= 0) location.assign(options()[chosen].href);
      else return;
      event.preventDefault();
    });
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus, and the list stays to be clicked
    input.addEventListener("blur", () => show(false));
  }
})();
