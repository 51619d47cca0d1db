function (doc) {
  // A gift card is worth nothing before it is sold.
  if (doc.type !== "product" || doc.kind === "gift_card") return;
  var sold = (doc.variants || []).map(function (variant) {
    return [(doc.variant_stock || {})[variant.sku] || 0, variant.cost_prices || {}];
  });
  var sums = {all: [0, 0]}, costs = doc.cost_prices || {};
  (sold.length ? sold : [[doc.stock || 0, {}]]).forEach(function (each) {
    var units = each[0], own = each[1], currencies = {};
    Object.keys(costs).concat(Object.keys(own)).forEach(function (name) { currencies[name] = true; });
    sums.all[0] += units;
    Object.keys(currencies).forEach(function (name) {
      var cost = own[name] === undefined ? costs[name] : own[name];
      sums[name] = sums[name] || [0, 0];
      sums[name][0] += units;
      sums[name][1] += units * cost;
    });
  });
  emit(doc.taxonomy, sums);
}
