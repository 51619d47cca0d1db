function (doc) {
  if (doc.type !== "product") return;
  [doc].concat(doc.variants || []).forEach(function (priced) {
    (priced.sales || []).forEach(function (sale) {
      if (sale.from) emit(sale.from, null);
      if (sale.until) emit(sale.until, null);
    });
  });
}
