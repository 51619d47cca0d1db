/* Departments kept on the device: `kept-ID` among the customer's documents says which, `places-ID` on this device what they are called and what is in them,
   and `aisle-kept-ID` is the shop's database of each category (`/v1/products/sync/...`), read only. Their small pictures are in a cache of
   their own, within the shop's budget. */
globalThis.shopKept = (() => {
  "use strict";

  const device = globalThis.shopDevice;
  const PICTURES = "aisle-kept-pictures";
  const BYTES = "X-Aisle-Bytes";
  const MOST_LIVE = 2; // each holds a connection, of which browsers have six; the others are looked at now and then
  const LOOK_MS = 60_000;

  const stopping = new AbortController();
  const { signal } = stopping;
  const ONE_WAY = { checkpoint: "target" }; // how far a device is it knows itself: nobody writes at the shop's

  async function idOf(category) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category));
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 40);
  }

  const keyOf = (category) => btoa(String.fromCharCode(...new TextEncoder().encode(category))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  async function database(category) {
    const id = await idOf(category);
    signal.throwIfAborted();
    return new PouchDB(`aisle-kept-${id}`, { auto_compaction: true });
  }
  const list = () => device.documents("kept-");
  const isKept = async (category) => (await list()).some((each) => each.category === category);

  async function keep(category) {
    await device.write(`kept-${await idOf(category)}`, { type: "kept", category, subtree: true });
    await fill();
  }

  async function drop(category) {
    await device.remove(`kept-${await idOf(category)}`);
    await fill();
  }

  /* Brings what is kept up to date, and forgets what is not kept any more. */
  let filling = Promise.resolve();
  const fill = () => (filling = navigator.locks.request("aisle-kept", { signal: signal }, fillNow));

  async function fillNow() {
    const kept = await list();
    const wanted = new Set();
    for (const { category } of kept) {
      const places = await placesOf(category);
      for (const { category: place } of places) {
        if (signal.aborted) return;
        wanted.add(`_pouch_aisle-kept-${await idOf(place)}`);
        await (await database(place)).replicate.from(remote(place), ONE_WAY).catch(() => {}); // it stays as it was
      }
    }
    for (const { name } of (await indexedDB.databases?.()) ?? []) {
      if (name.startsWith("_pouch_aisle-kept-") && !wanted.has(name)) await new PouchDB(name.replace("_pouch_", "")).destroy();
    }
    device.tell();
    await fetchPictures();
  }

  /* While a page is open: the first categories as they change, the others every minute. One page of this browser does it. */
  let followed = Promise.resolve();
  const follow = () => (followed = navigator.locks.request("aisle-kept-live", { signal }, async () => {
    const places = (await Promise.all((await list()).map(({ category }) => knownPlaces(category)))).flat();
    const live = [];
    for (const { category: place } of places.slice(0, MOST_LIVE)) {
      const options = { ...ONE_WAY, live: true, retry: true, back_off_function: device.pause };
      live.push((await database(place)).replicate.from(remote(place), options).on("change", device.tell).on("error", () => {}));
    }
    const looking = setInterval(() => document.hidden || fill().catch(() => {}), LOOK_MS);
    if (places.length) await new Promise((done) => signal.aborted ? done() : signal.addEventListener("abort", done));
    clearInterval(looking);
    for (const each of live) each.cancel();
    await Promise.allSettled(live);
  }).catch(() => {}));

  /* For good: what is kept is about to be wiped. */
  function stop() {
    stopping.abort();
    return Promise.allSettled([followed, filling]);
  }

  /* The smallest picture of each product, in the order of the departments, until the budget or a quarter of what the browser has left is full;
     those of what is not kept any more go. */
  async function fetchPictures() {
    const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.().catch(() => null)) ?? {};
    const budget = Math.min((await device.known("shop"))?.picture_bytes ?? 0, (quota - usage) / 4);
    const saving = navigator.connection?.saveData;
    const [cache, stay] = [await caches.open(PICTURES), new Set()];
    let used = 0;
    for (const address of new Set((await goods()).map(({ picture }) => picture).filter(Boolean))) {
      const bytes = Number((await cache.match(address))?.headers.get(BYTES)) || (saving ? 0 : await fetchPicture(cache, address, budget - used));
      if (bytes && used + bytes <= budget) {
        used += bytes;
        stay.add(address);
      }
    }
    for (const request of await cache.keys()) if (!stay.has(new URL(request.url).pathname)) await cache.delete(request);
    if (stay.size) device.tell();
  }

  /* How large it is; 0 where it is not there, or larger than what is left. */
  async function fetchPicture(cache, address, most) {
    if (most <= 0) return 0;
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) return 0;
    const body = await answer.blob();
    if (body.size > most) return 0;
    await cache.put(address, new Response(body, { headers: { "Content-Type": answer.headers.get("Content-Type"), [BYTES]: String(body.size) } }));
    return body.size;
  }

  /* As pages show it, see rules/pictures.py: one that is kept here in its smallest size, or one of this site. */
  function pictureOf({ image, pictures }) {
    const [, digest] = /^\/v1\/pictures\/([0-9a-f]{64})$/.exec(image ?? "") ?? [];
    if (image?.startsWith("/") && !digest) return /^\/(?![\\/])\S*$/.test(image) ? image : "";
    const id = digest ?? pictures?.find(({ id }) => /^[0-9a-f]{64}$/.test(id))?.id;
    return id ? `/pictures/${id}/320.webp` : "";
  }

  function remote(place) {
    return new PouchDB(`${location.origin}/device/kept/${keyOf(place)}/`, {
      skip_setup: true,
      fetch: (address, options) => device.ask(address, options),
    });
  }

  /* As the shop lists them now, else as it did. */
  async function placesOf(category) {
    const answer = await fetch(`/device/kept?category=${encodeURIComponent(category)}`).catch(() => null);
    if (!answer?.ok) return knownPlaces(category);
    const told = await answer.json();
    await device.remember(`places-${await idOf(category)}`, told);
    return told.places;
  }

  const toldOf = async (category) => (await device.known(`places-${await idOf(category)}`)) ?? {};
  const knownPlaces = async (category) => (await toldOf(category)).places ?? [];

  /* Each department that is kept, with what can be bought of it, each variant by itself, in the shop's order:
     {category, label, complete, goods: [{key, productid, name, price, stock, picture}]}. Not complete: only so many are kept of a category. */
  async function departments() {
    return Promise.all((await list()).map(async ({ category }) => {
      const { label = category.split("#").at(-1), places = [] } = await toldOf(category);
      const found = await Promise.all(places.map(({ category: place }) => contents(place)));
      return { category, label, complete: found.every(({ complete }) => complete), goods: found.flatMap((each) => each.goods) };
    }));
  }

  async function contents(place) {
    const { rows } = await (await database(place)).allDocs({ include_docs: true });
    const docs = new Map(rows.map(({ id, doc }) => [id, doc]));
    const { productids = [], complete = true } = docs.get("category") ?? {};
    return { complete, goods: productids.flatMap((productid) => sold(docs.get(`product-${productid}`) ?? {})) };
  }

  async function goods() {
    const found = (await departments()).flatMap((each) => each.goods);
    return [...new Map(found.map((each) => [each.key, each])).values()];
  }

  function sold(product) {
    const words = [product.name, product.brand, product.description, ...(product.keywords ?? [])].join(" ").toLowerCase();
    const [{ productid }, picture] = [product, pictureOf(product)];
    if (!product.variants?.length) return product.price ? [{ key: productid, productid, name: product.name, price: product.price, stock: product.stock, picture, words }] : [];
    return product.variants.map(({ sku, options, price, stock }) => {
      const chosen = Object.values(options ?? {}).join(", ");
      return { key: sku, productid, name: `${product.name} (${chosen})`, price: price ?? product.price, stock, picture, words: `${words} ${chosen.toLowerCase()}` };
    });
  }

  async function search(text) {
    const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (await goods()).filter(({ words }) => asked.every((word) => words.includes(word)));
  }

  return { list, isKept, keep, drop, fill, follow, stop, departments, search };
})();
