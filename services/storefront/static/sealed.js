/* Orders that waited on this device when the session of their customer ran out: in localStorage, where nothing else of them is left,
   encrypted with a key that the shop tells this customer alone (`seal` of `GET /device`), until they log in here again, for 30 days at most.
   {owner, until, iv, data}. */
globalThis.shopSealed = (() => {
  "use strict";

  const NAME = "aisle-sealed";
  const KEPT_MS = 30 * 86_400_000;
  const bytes = (text) => Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const text = (buffer) => btoa(Array.from(new Uint8Array(buffer), (each) => String.fromCharCode(each)).join(""));
  const keyOf = (seal, use) => crypto.subtle.importKey("raw", bytes(seal), "AES-GCM", false, [use]);
  const read = () => JSON.parse(localStorage.getItem(NAME) ?? "null");
  const drop = () => localStorage.removeItem(NAME);

  /* Whether they are kept: not without a key, nor in a full storage. */
  async function keep(owner, seal, orders) {
    if (!seal || !orders.length) return false;
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const plain = new TextEncoder().encode(JSON.stringify(orders));
    const data = text(await crypto.subtle.encrypt({ name: "AES-GCM", iv }, await keyOf(seal, "encrypt"), plain));
    const until = new Date(Date.now() + KEPT_MS).toISOString();
    localStorage.setItem(NAME, JSON.stringify({ owner, until, iv: text(iv), data }));
    return true;
  }

  /* Gives them back to `save`, once; those of somebody else go. Throws what cannot be read or saved. */
  const open = (owner, seal, save) => navigator.locks.request(NAME, async () => {
    const found = read();
    if (!found) return;
    if (found.owner === owner) {
      const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv: bytes(found.iv) }, await keyOf(seal, "decrypt"), bytes(found.data)).catch((error) => {
        drop(); // the shop has other keys now
        throw error;
      });
      await save(JSON.parse(new TextDecoder().decode(plain)));
    }
    drop();
  });

  return { keep, open };
})();
