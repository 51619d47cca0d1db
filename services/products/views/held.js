function (doc) {
  if (doc.type === "movement" && doc.orderid && !doc._conflicts) {
    emit([doc.orderid, doc.productid + (doc.sku ? ":sku:" + doc.sku : "")], -doc.delta);
  }
}
