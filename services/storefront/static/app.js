/* The shop as an app: registers the service worker, says how old a page is, offers to install the shop, and keeps a
   customer's own data on the device (`device.js`). Every page works without this file. */
(() => {
  "use strict";

  const folder = document.currentScript.src.replace(/app\.js$/, "");
  const texts = document.body.dataset; // in the language of the page
  const notes = document.getElementById("notes");
  const say = (words, mood) => document.dispatchEvent(new CustomEvent("shop:notice", { detail: { words, mood } }));

  function lasting(id, mood, words) {
    const note = document.getElementById(id) ?? Object.assign(document.createElement("div"), { id, role: "status" });
    note.className = `note ${mood}`;
    note.replaceChildren(...[words].flat());
    if (!note.isConnected) notes.before(note);
  }

  const linkTo = (href, textContent) => Object.assign(document.createElement("a"), { href, textContent });

  /* The worker (`worker.js`) shows a page that it kept with the moment when it did. */
  if (texts.kept) {
    const moment = new Date(texts.kept).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
    lasting("kept-note", "warn", texts.keptText.replace("{moment}", moment));
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

  if (!navigator.serviceWorker || !globalThis.indexedDB) return;
  navigator.serviceWorker.register("/worker.js", { updateViaCache: "none" }).catch(() => {}); // not on this site: everything works without it

  /* A worker of another release has taken over: this page's scripts are of the one before. Whoever is typing decides when to load it again. */
  navigator.serviceWorker.addEventListener("message", ({ data }) => {
    if (data?.release && !folder.endsWith(`/${data.release}/`)) lasting("release-note", "warn", Object.assign(document.createElement("button"), { className: "link", textContent: texts.textRelease, onclick: () => location.reload() }));
  });

  /* A page of the shop itself says whose it is; one that was kept, or made on the device, cannot know. */
  const known = localStorage.getItem("aisle-owner");
  const fromDevice = texts.kept || texts.asked;

  /* Who logged out without a network is logged out at the shop before anything else. */
  const LEAVING = "aisle-leaving";
  const whoIsHere = () => fetch("/device").then((answer) => answer.json()).catch(() => null);
  async function tellLeaving() {
    const found = await whoIsHere();
    if (!found) return;
    if (found.owner) {
      const answer = await fetch("/logout", { method: "POST", headers: { "X-CSRF-Token": found.csrf }, redirect: "manual" }).catch(() => null);
      if (answer?.type !== "opaqueredirect" && !answer?.ok) return;
    }
    localStorage.removeItem(LEAVING);
    if (found.owner) location.replace(fromDevice || location.pathname === "/account" ? "/" : location.href);
  }
  if (localStorage.getItem(LEAVING)) {
    addEventListener("online", tellLeaving);
    if (texts.owner || fromDevice) return void tellLeaving();
    localStorage.removeItem(LEAVING);
  }

  /* An order waits for its customer to log in again (`sealed.js`); what it is stands nowhere before. */
  function showSealed() {
    const sealed = JSON.parse(localStorage.getItem("aisle-sealed") ?? "null");
    if (sealed?.until > new Date().toISOString()) return lasting("waiting-note", "warn", linkTo("/login?next=/offline", texts.textSealed));
    localStorage.removeItem("aisle-sealed");
    document.getElementById("waiting-note")?.remove();
  }
  if (!texts.owner && !known) {
    showSealed();
    if (localStorage.getItem("aisle-wiping") === null) return; // else `device.js` goes on with it
  }

  const script = (name) => new Promise((done, failed) => document.head.append(Object.assign(document.createElement("script"), { src: folder + name, onload: done, onerror: failed })));
  const ready = (async () => {
    if (!globalThis.PouchDB) await script("installed/pouchdb.min.js");
    if (!globalThis.shopSealed) await script("sealed.js");
    if (!globalThis.shopDevice) await script("device.js");
    localStorage.removeItem("_pouch_check_localstorage"); // PouchDB tries the storage with it when it is loaded: where somebody has just logged out it would stay
    return globalThis.shopDevice;
  })();

  /* Orders that wait, for the shop, a decision or their payment, are named on every page. */
  async function showWaiting(device) {
    if (!device.open()) return showSealed();
    const open = await device.openOrders().catch(() => []);
    if (!device.open()) return showSealed(); // wiped meanwhile
    if (!open.length) return document.getElementById("waiting-note")?.remove();
    const refused = open.some(({ state }) => state === "refused");
    const unpaid = open.find(({ state }) => state === "placed");
    if (unpaid && !refused) return lasting("waiting-note", "warn", linkTo(unpaid.payment_page, texts.textPay));
    lasting("waiting-note", refused ? "bad" : "warn", linkTo("/offline", refused ? texts.textDecide : texts.textWaiting));
  }

  /* The button of a department keeps it on the device, or no longer. */
  async function offerToKeep(device) {
    if (!globalThis.shopKept) await script("kept.js");
    const kept = globalThis.shopKept;
    const button = document.querySelector("[data-keep]");
    const show = async () => {
      const isKept = await kept.isKept(button.dataset.keep);
      button.setAttribute("aria-pressed", String(isKept));
      button.textContent = isKept ? button.dataset.textKept : button.dataset.textKeep;
      button.hidden = false;
    };
    if (button) {
      await show();
      button.addEventListener("click", async () => {
        button.disabled = true;
        await (button.getAttribute("aria-pressed") === "true" ? kept.drop : kept.keep)(button.dataset.keep).catch(() => {});
        await show();
        button.disabled = false;
      });
    }
    if (!device.token()) return;
    await kept.fill();
    kept.follow();
  }

  /* Whether the shop can be reached, by somebody who is logged in: what waits is sent, the rest synced. */
  async function goOn(device) {
    if (!(await device.who())?.owner) return false;
    await device.send();
    device.sync();
    device.refreshQuote().catch(() => {});
    return true;
  }

  async function start() {
    const device = await ready;
    device.changed.addEventListener("change", () => showWaiting(device).catch(() => {})); // wiped meanwhile
    if (known && !device.owner()) showSealed(); // by another page, before this one could hear of it
    if (!texts.owner && !fromDevice) return device.who(); // logged out elsewhere, or the session has ended
    device.placed.addEventListener("placed", () => say(texts.textThanks, "good"));
    device.open();
    if (device.owner()) showWaiting(device).catch(() => {}); // a full storage may answer nothing, or never
    if (await goOn(device)) navigator.storage?.persist?.();
    addEventListener("online", () => goOn(device).catch(() => {}));
    navigator.serviceWorker.addEventListener("message", ({ data }) => data === "send" && device.send().catch(() => {}));
    if (device.owner()) await offerToKeep(device);
  }
  setTimeout(() => start().catch(() => {}), fromDevice || texts.eager !== undefined ? 0 : 1000); // after the page; one that is left at once costs nothing

  /* Logging out leaves nothing behind, whether or not the shop can be reached; the next page that the shop answers says which. */
  document.addEventListener("submit", async (event) => {
    if (!event.target.matches("[action='/logout']")) return; // of an account that is erased the next page wipes: the shop may refuse
    event.preventDefault();
    event.stopImmediatePropagation();
    const unsent = await ready.then((device) => (device.open() ? device.unsent() : [])).catch(() => []);
    if (unsent.length && !confirm(texts.textLeave)) return;
    localStorage.setItem(LEAVING, "yes"); // first: no page that is just loading brings back what is wiped
    await ready.then((device) => device.leave()).catch(() => {});
    const body = new URLSearchParams(new FormData(event.target));
    const answer = await fetch("/logout", { method: "POST", body, redirect: "manual" }).catch(() => null);
    if (!answer) location.replace("/offline");
    else if (answer.type === "opaqueredirect" || (await whoIsHere())?.owner === "") location.replace("/"); // another page may have told the shop before
    else event.target.submit(); // the page says what is wrong
  }, true);

  /* Without a network things go into the basket of the device; its sync puts them into the shop's. */
  document.addEventListener("htmx:sendError", async (event) => {
    const form = event.target.closest?.("form[data-amount]");
    if (!form) return;
    const device = await ready;
    if (!device.open()) return;
    const { productid, amount, currency } = form.dataset;
    const price = { amount: Number(amount), currency };
    const added = device.add(form.elements.productid.value, Number(form.elements.quantity?.value ?? 1), { productid, name: form.elements.name.value, price });
    await device.orSay(added.then(() => say(texts.textAdded, "good")));
  });

  /* And onto the wish list of the device. */
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (navigator.onLine || !form.matches("form[action='/wishes']")) return;
    event.preventDefault();
    const device = await ready;
    if (!device.open()) return;
    const { productid, name, amount, currency } = form.dataset;
    const wished = device.wish(form.elements.productid.value, { productid, name, price: amount && { amount: Number(amount), currency } });
    await device.orSay(wished.then(() => say(texts.textWished, "good")));
  });
})();
