function (doc) {
  if (doc.type !== "ordersummary") return;
  var returns = doc.open_returns > 0 ? ["", "open"] : [""];
  var products = [""].concat(doc.products), words = [""].concat(doc.words);
  returns.forEach(function (open) {
    products.forEach(function (product) {
      words.forEach(function (word) {
        emit([open, product, word, "", doc.placed, doc.orderid], null);
        emit([open, product, word, doc.status, doc.placed, doc.orderid], null);
      });
    });
  });
}
