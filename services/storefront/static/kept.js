/* Departments kept on the device: `kept-ID` among the customer's documents says which, `places-ID` on this device what is in them,
   and `aisle-kept-ID` is the shop's database of each category (`/v1/products/sync/...`), read only. */
globalThis.shopKept = (() => {
  "use strict";

  const device = globalThis.shopDevice;

  async function idOf(category) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(category));
    return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 40);
  }

  const keyOf = (category) => btoa(String.fromCharCode(...new TextEncoder().encode(category))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const database = async (category) => new PouchDB(`aisle-kept-${await idOf(category)}`, { auto_compaction: true });
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
  const fill = () => navigator.locks.request("aisle-kept", async () => {
    const kept = await list();
    const wanted = new Set();
    for (const { category } of kept) {
      const places = await placesOf(category);
      for (const { category: place } of places) {
        wanted.add(`_pouch_aisle-kept-${await idOf(place)}`);
        await (await database(place)).replicate.from(remote(place)).catch(() => {}); // it stays as it was
      }
    }
    for (const { name } of (await indexedDB.databases?.()) ?? []) {
      if (name.startsWith("_pouch_aisle-kept-") && !wanted.has(name)) await new PouchDB(name.replace("_pouch_", "")).destroy();
    }
    device.tell();
  });

  function remote(place) {
    return new PouchDB(`${location.origin}/device/kept/${keyOf(place)}/`, {
      skip_setup: true,
      fetch: (address, options) => {
        options.headers.set("X-CSRF-Token", device.token());
        return PouchDB.fetch(address, options);
      },
    });
  }

  /* As the shop lists them now, else as it did. */
  async function placesOf(category) {
    const answer = await fetch(`/device/kept?category=${encodeURIComponent(category)}`).catch(() => null);
    if (!answer?.ok) return (await device.known(`places-${await idOf(category)}`))?.places ?? [];
    const { places } = await answer.json();
    await device.remember(`places-${await idOf(category)}`, { places });
    return places;
  }

  /* What can be bought of all that is kept, each variant by itself: {key, productid, name, price, stock}. */
  async function goods() {
    const found = new Map();
    for (const { category } of await list()) {
      for (const { category: place } of (await device.known(`places-${await idOf(category)}`))?.places ?? []) {
        const { rows } = await (await database(place)).allDocs({ include_docs: true, startkey: "product-", endkey: "product-\uffff" });
        for (const { doc } of rows) for (const each of sold(doc)) found.set(each.key, each);
      }
    }
    return [...found.values()];
  }

  function sold(product) {
    const words = [product.name, product.brand, product.description, ...(product.keywords ?? [])].join(" ").toLowerCase();
    const { productid } = product;
    if (!product.variants?.length) return product.price ? [{ key: productid, productid, name: product.name, price: product.price, stock: product.stock, words }] : [];
    return product.variants.map(({ sku, options, price, stock }) => {
      const chosen = Object.values(options ?? {}).join(", ");
      return { key: sku, productid, name: `${product.name} (${chosen})`, price: price ?? product.price, stock, words: `${words} ${chosen.toLowerCase()}` };
    });
  }

  async function search(text) {
    const asked = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (await goods()).filter(({ words }) => asked.every((word) => words.includes(word)));
  }

  return { list, isKept, keep, drop, fill, search };
})();
