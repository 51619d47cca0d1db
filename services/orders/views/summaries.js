function (doc) {
  if (doc.type !== "ordersummary") return;
  var returns = doc.open_returns > 0 ? ["", "open"] : [""];
  if (doc.waiting > 0) returns = returns.concat(returns.map(function (each) { return each + "waiting"; }));
  var named = [["", ""]].concat(
    doc.products.map(function (product) { return [product, ""]; }),
    doc.words.map(function (word) { return ["", word]; })
  );
  returns.forEach(function (open) {
    named.forEach(function (pair) {
      emit([open, pair[0], pair[1], "", doc.placed, doc.orderid], null);
      emit([open, pair[0], pair[1], doc.status, doc.placed, doc.orderid], null);
    });
  });
}
