/* The shop as an app: registers the service worker, says how old a page is, offers to install the shop.
   Every page works without this file. */
(() => {
  "use strict";

  const texts = document.body.dataset; // in the language of the page
  const notes = document.getElementById("notes");

  /* The worker (`worker.js`) shows a page that it kept with the moment when it did. */
  if (texts.kept) {
    const note = document.createElement("div");
    const moment = new Date(texts.kept).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    note.className = "note warn";
    note.id = "kept-note";
    note.textContent = texts.keptText.replace("{moment}", moment);
    notes.before(note);
  }

  /* Browsers that can install the shop say so once; the others never show the button. */
  const offer = document.querySelector("[data-install]");
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    offer.hidden = false;
    offer.querySelector("button").onclick = () => {
      offer.hidden = true;
      event.prompt();
    };
  });

  /* A page of the desk is never kept, but its release may be newer than the worker's. */
  navigator.serviceWorker?.register("/worker.js", { updateViaCache: "none" }).catch(() => {}); // not on this site: everything works without it
})();
