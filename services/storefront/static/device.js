/* A customer's own data on their device: PouchDB syncs it while a page is open, orders wait here for a network.
   Two databases: `aisle-OWNER` is what `/v1/users/me/sync` has of them, `aisle-OWNER-here` what only this device knows:
   `order-KEY` {state: waiting | sending | refused | placed, sent, total, ...}, `quote` (see `GET /device`) and `product-KEY` {name, price}. */
globalThis.shopDevice = (() => {
  "use strict";

  const OWNER = "aisle-owner";
  const owner = () => localStorage.getItem(OWNER) ?? "";
  const changed = new EventTarget();
  const tell = () => changed.dispatchEvent(new Event("change"));
  let mine;
  let here;
  let csrf;
  let live;
  let left = false; // for good: this page keeps nothing any more

  function open() {
    if (mine || left || !owner()) return Boolean(mine);
    mine = new PouchDB(`aisle-${owner()}`, { auto_compaction: true });
    here = new PouchDB(`aisle-${owner()}-here`, { auto_compaction: true });
    for (const each of [mine, here]) each.changes({ live: true, since: "now" }).on("change", tell);
    return true;
  }

  /* Who is logged in, as the shop says; null without a network. Somebody else's data, or that of a session which has ended, is wiped. */
  async function who() {
    const answer = await fetch("/device", { headers: { Accept: "application/json" } }).catch(() => null);
    if (!answer?.ok || left) return null;
    const found = await answer.json();
    if (left) return null;
    if (owner() && found.owner !== owner()) await wipe();
    if (!found.owner) return found;
    csrf = found.csrf;
    localStorage.setItem(OWNER, found.owner);
    open();
    await put(here, "quote", { ...found.quote, cards: found.cards, payment_page: found.payment_page });
    for (const { key, name, price } of found.quote?.lines ?? []) await put(here, `product-${key}`, { name, price });
    return found;
  }

  async function put(database, id, content) {
    const there = await database.get(id).catch(() => null);
    const { _rev, _id, ...known } = there ?? {};
    if (there && JSON.stringify(known) === JSON.stringify(content)) return;
    await database.put({ ...content, _id: id, ...(there ? { _rev } : {}) });
  }

  async function all(database, prefix) {
    const { rows } = await database.allDocs({ startkey: prefix, endkey: `${prefix}\uffff`, include_docs: true });
    return rows.map((row) => row.doc);
  }

  /* One page of this browser syncs; the next one goes on when it is closed. */
  function sync() {
    if (!open() || live) return;
    live = true;
    navigator.locks.request("aisle-sync", () => new Promise((done) => {
      const remote = new PouchDB(`${location.origin}/device/sync/`, {
        skip_setup: true,
        fetch: async (address, options) => {
          options.headers.set("X-CSRF-Token", csrf);
          const answer = await PouchDB.fetch(address, options);
          if (answer.status === 410) await wipe();
          if (answer.status === 401 || answer.status === 403) await who();
          return answer;
        },
      });
      live = mine.sync(remote, { live: true, retry: true, batch_size: 50 })
        .on("denied", ({ doc }) => note(doc))
        .on("error", done)
        .on("complete", done);
    }));
  }

  /* What the shop did not take is said, once. */
  async function note(refused) {
    await put(here, `denied-${refused.id}`, { reason: refused.reason });
    document.dispatchEvent(new CustomEvent("shop:notice", { detail: { words: refused.reason, mood: "warn" } }));
  }

  /* The basket. */
  async function basket() {
    const lines = (await all(mine, "basket-")).map(({ productid, sku, quantity }) => ({ key: sku || productid, quantity }));
    return Promise.all(lines.map(async (line) => ({ ...line, ...(await here.get(`product-${line.key}`).then(({ name, price }) => ({ name, price }), () => ({ name: line.key }))) })));
  }

  async function setQuantity(key, quantity, productid = key) {
    const there = await mine.get(`basket-${key}`).catch(() => null);
    if (!quantity) return there && mine.remove(there);
    const line = there ?? { _id: `basket-${key}`, type: "basketline", productid, ...(productid === key ? {} : { sku: key }) };
    return mine.put({ ...line, quantity: Math.min(99, quantity) });
  }

  async function add(key, quantity, { productid, name, price }) {
    const there = await mine.get(`basket-${key}`).catch(() => null);
    await put(here, `product-${key}`, { name, price });
    await setQuantity(key, (there?.quantity ?? 0) + quantity, productid);
  }

  /* What an order of the basket is expected to cost: as the shop last said, else its goods at known prices and the delivery of then. */
  async function expected() {
    const [lines, quote] = [await basket(), await here.get("quote").catch(() => ({}))];
    const currencies = new Set(lines.map(({ price }) => price?.currency));
    if (!lines.length || currencies.size > 1 || currencies.has(undefined)) return { lines, quote, total: null };
    const [currency] = currencies;
    const goods = lines.reduce((sum, { price, quantity }) => sum + price.amount * quantity, 0);
    const told = quote.total?.currency === currency ? quote : null;
    const same = told && sameItems(told.items, lines);
    const rest = told ? told.total.amount - told.goods.amount : 0;
    return { lines, quote, exact: Boolean(same), total: same ? told.total : { amount: goods + rest, currency } };
  }

  function sameItems(items, lines) {
    const listed = (list) => JSON.stringify(list.map(({ productid, key, quantity }) => [productid ?? key, quantity]).sort());
    return listed(items) === listed(lines);
  }

  /* Orders. */
  const newKey = () => crypto.randomUUID();

  async function order({ address_id, card }) {
    const { lines, quote, total } = await expected();
    const key = newKey();
    const sent = {
      key,
      items: lines.map((line) => ({ productid: line.key, quantity: line.quantity })),
      expected_total: total,
      address_id,
      card,
      currency: quote.currency ?? "",
      language: quote.language ?? "",
      shipping: address_id === quote.address_id ? (quote.shipping ?? "") : "",
    };
    const names = Object.fromEntries(lines.map((line) => [line.key, line.name]));
    await here.put({ _id: `order-${key}`, state: "waiting", made: new Date().toISOString(), sent, names });
    navigator.serviceWorker?.ready.then((worker) => worker.sync?.register("orders")).catch(() => {});
    await send();
  }

  /* Sends what waits, each order under its own key: the shop knows one that was sent before. */
  const send = () => navigator.locks.request("aisle-send", async () => {
    if (!open() || !navigator.onLine) return;
    const waiting = (await all(here, "order-")).filter(({ state }) => state === "waiting");
    if (waiting.length && !csrf && !(await who())?.owner) return;
    for (const each of waiting) await sendOne(each);
    await badge();
  });

  async function sendOne(each, again = true) {
    await here.put({ ...(await here.get(each._id)), tried: true }); // from now on it may have arrived
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": csrf };
    const answer = await fetch("/device/orders", { method: "POST", headers, body: JSON.stringify(each.sent) }).catch(() => null);
    if (!answer || answer.status >= 500 || answer.status === 429) return; // it waits on
    const told = await answer.json().catch(() => null);
    if (!told) return;
    if ([401, 403].includes(answer.status)) {
      if ((await who())?.owner && again) await sendOne(each, false);
      return;
    }
    const outcome = answer.ok ? { state: "placed", ...told } : { state: "refused", code: told.code, detail: told.detail, total: told.total };
    await here.put({ ...(await here.get(each._id)), ...outcome });
    tell();
  }

  /* After a refusal its customer decides: the same at what it costs now (under a new key: nothing came of the old one), or not at all. */
  async function decide(id, { again, card }) {
    const refused = await here.get(id);
    await here.remove(refused);
    if (!again) return badge();
    const key = newKey();
    const sent = { ...refused.sent, key, expected_total: refused.total ?? refused.sent.expected_total, card: card ?? refused.sent.card };
    await here.put({ _id: `order-${key}`, state: "waiting", made: new Date().toISOString(), sent, names: refused.names });
    await send();
  }

  const orders = () => all(here, "order-");

  async function badge() {
    const open = (await orders()).filter(({ state }) => state !== "placed").length;
    if (open) await navigator.setAppBadge?.(open).catch(() => {});
    else await navigator.clearAppBadge?.().catch(() => {});
    tell();
    return open;
  }

  /* Nothing of anybody stays: databases, kept pages and pictures, the badge. */
  async function wipe() {
    for (const name of Object.keys(localStorage)) if (/^(aisle-|_pouch_)/.test(name)) localStorage.removeItem(name); // PouchDB has some, too
    live?.cancel?.();
    await Promise.all([mine, here].map((each) => each?.destroy()));
    mine = here = live = csrf = undefined;
    const left = (await indexedDB.databases?.()) ?? [];
    for (const { name } of left) if (name.startsWith("_pouch_")) indexedDB.deleteDatabase(name);
    for (const name of await caches.keys()) if (!name.startsWith("aisle-shell-")) await caches.delete(name);
    await navigator.clearAppBadge?.().catch(() => {});
    tell();
  }

  /* Another page of this browser may have logged out. */
  addEventListener("storage", ({ key, newValue }) => key === OWNER && !newValue && leave());

  function leave() {
    left = true;
    return wipe();
  }

  return { owner, open, who, sync, basket, add, setQuantity, expected, order, orders, send, decide, badge, wipe, leave, changed, tell, token: () => csrf, documents: (prefix) => all(mine, prefix), write: (id, content) => put(mine, id, content), remove: async (id) => mine.remove(await mine.get(id)), remember: (id, content) => put(here, id, content), known: (id) => here.get(id).catch(() => null) };
})();
