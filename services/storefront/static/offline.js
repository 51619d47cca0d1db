/* What is on the device, and why this page is shown in place of another. */
(() => {
  "use strict";

  const asked = document.body.dataset.asked ?? "own";
  for (const each of document.querySelectorAll("[data-when]")) each.hidden = !each.dataset.when.split(" ").includes(asked);
})();
