function (doc) {
  if (doc.type !== "product" || !doc.hidden) return;
  var name = doc.name.toLowerCase(), words = Object.create(null);
  var texts = [name, doc.brand, doc.productid].concat((doc.variants || []).map(function (variant) { return variant.sku; }));
  texts.forEach(function (text) {
    if (text) text.toLowerCase().split(/\s+/).forEach(function (word) { if (word) words[word] = true; });
  });
  emit([doc.hidden, "", name], null);
  Object.keys(words).forEach(function (word) { emit([doc.hidden, word, name], null); });
}
