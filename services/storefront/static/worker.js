/* The shop without a network: pages that were seen are shown again and say from when they are, others lead to what is on the device.
   `/worker.js` is this file after a line that names the release: `const SHOP = {release, language, shell, offline, stall}`. */
"use strict";

const SHELL = `aisle-shell-${SHOP.release}-${SHOP.language}`; // scripts, styles, fonts and the offline page of one release
const PAGES = "aisle-pages";
const PICTURES = "aisle-pictures";
const MOST = { [PAGES]: 80, [PICTURES]: 300 };
const KEPT_DAYS = 30;
const KEPT_AT = "X-Aisle-Kept";
const OWN = /^\/(admin|device|v1|docs|worker\.js|manifest\.webmanifest|login|logout|register|verify|reset|mailbox)(\/|$)/; // never kept, never answered from here
const PERSONAL = { "/basket": "basket", "/checkout": "checkout", "/orders": "orders", "/account": "addresses", "/wishes": "wishes", "/offline": "own" };

self.addEventListener("install", (event) => {
  event.waitUntil(
    (async () => {
      const shell = await caches.open(SHELL);
      const plain = { credentials: "omit", cache: "reload" }; // what is the same for everybody, from the shop itself
      await shell.addAll([...SHOP.shell, SHOP.offline, SHOP.stall].map((address) => new Request(address, plain)));
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener("activate", (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) {
        if (name.startsWith("aisle-shell-") && name !== SHELL) await caches.delete(name);
      }
      await Promise.all([tidy(PAGES), tidy(PICTURES)]);
      await self.registration.navigationPreload?.enable();
      await self.clients.claim();
      for (const client of await self.clients.matchAll()) client.postMessage({ release: SHOP.release });
    })(),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin || OWN.test(pathname)) return;
  if (request.mode === "navigate") event.respondWith(request.method === "GET" ? page(event) : sent(request));
  else if (request.method !== "GET") return;
  else if (pathname.startsWith("/assets/")) event.respondWith(asset(request, pathname));
  else if (request.destination === "image") event.respondWith(picture(event));
});

self.addEventListener("sync", (event) => {
  if (event.tag === "orders") event.waitUntil(askPages());
});

/* A page of the shop's, else the one that was kept, else what is on the device. */
async function page(event) {
  const { request } = event;
  let answer = null;
  try {
    answer = (await event.preloadResponse) ?? (await fetch(request));
    if (answer.status < 502 || answer.status > 504) {
      keep(event, PAGES, request, answer);
      return answer;
    }
  } catch {
    // without a network
  }
  const path = new URL(request.url).pathname;
  if (path === "/stall") return (await caches.match(SHOP.stall, { cacheName: SHELL, ignoreVary: true })) ?? offline(path);
  const kept = PERSONAL[path] ? null : await caches.match(request, { cacheName: PAGES, ignoreVary: true });
  if (kept) return marked(kept);
  return answer ?? offline(path);
}

/* A form that cannot be sent says so; nothing is kept of it here. */
async function sent(request) {
  try {
    return await fetch(request);
  } catch {
    return offline(new URL(request.url).pathname, "form");
  }
}

/* A page of a newer release, shown before its worker has taken over, has its own files; one of an earlier release that was kept has these. */
async function asset(request, path) {
  const shell = { cacheName: SHELL, ignoreVary: true };
  const kept = await caches.match(path, shell);
  if (kept) return kept;
  try {
    return await fetch(request);
  } catch (error) {
    const present = await caches.match(path.replace(/^\/assets\/[^/]+/, `/assets/${SHOP.release}`), shell);
    if (present) return present;
    throw error;
  }
}

async function picture(event) {
  const { request } = event;
  try {
    const answer = await fetch(request);
    keep(event, PICTURES, request, answer);
    return answer;
  } catch (error) {
    const kept = await caches.match(request, { ignoreVary: true }); // seen, or of a kept department (`kept.js`)
    if (kept) return kept;
    throw error;
  }
}

/* Keeps a copy of what whoever reads it may keep: pages of one person (`no-store`) never. */
function keep(event, name, request, answer) {
  const rules = answer.headers.get("Cache-Control") ?? "";
  const isPage = name === PAGES && !answer.headers.get("Content-Type")?.startsWith("text/html");
  if (new URL(request.url).pathname === "/stall" || answer.status !== 200 || answer.type !== "basic" || rules.includes("no-store") || isPage) return;
  const copy = answer.clone();
  event.waitUntil(
    (async () => {
      const headers = new Headers(copy.headers);
      headers.delete("Content-Encoding");
      headers.set(KEPT_AT, new Date().toISOString());
      const cache = await caches.open(name);
      await cache.put(request.url, new Response(await copy.blob(), { headers }));
      await tidy(name);
    })(),
  );
}

/* Drops what is too old, then the oldest of what is too much. */
async function tidy(name) {
  const cache = await caches.open(name);
  const oldest = new Date(Date.now() - KEPT_DAYS * 86_400_000).toISOString();
  const requests = await cache.keys();
  if (name === PICTURES && requests.length <= MOST[name]) return;
  const kept = await Promise.all(requests.map(async (request) => ({ request, moment: (await cache.match(request, { ignoreVary: true }))?.headers.get(KEPT_AT) ?? "" })));
  kept.sort((one, other) => (one.moment < other.moment ? 1 : -1));
  await Promise.all(kept.filter(({ moment }, place) => moment < oldest || place >= MOST[name]).map(({ request }) => cache.delete(request)));
}

/* The page's own script shows the banner, in the page's language. */
async function marked(kept) {
  const text = await kept.text();
  return new Response(text.replace("<body ", `<body data-kept="${kept.headers.get(KEPT_AT)}" `), { headers: kept.headers });
}

async function offline(path, asked = PERSONAL[path] ?? "page") {
  const shown = await caches.match(SHOP.offline, { cacheName: SHELL, ignoreVary: true });
  if (!shown) return Response.error();
  const text = await shown.text();
  return new Response(text.replace("<body ", `<body data-asked="${asked}" `), { headers: shown.headers });
}

/* Orders are sent by a page that is open; without one the next page that is opened does it. */
async function askPages() {
  for (const client of await self.clients.matchAll()) client.postMessage("send");
}
