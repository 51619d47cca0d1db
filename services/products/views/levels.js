function (doc) {
  var thousand = Math.ceil(doc.slot / 1000) * 1000;
  if (doc.type === "movement") emit([doc.productid, doc.sku || "", thousand], doc.delta);
  if (doc.type === "stocktotal") emit([doc.productid, doc.sku || "", doc.slot, "total"], doc.delta);
}
