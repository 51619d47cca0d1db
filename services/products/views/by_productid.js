function (doc) {
  if (doc.type === "product") {
    emit(doc.productid, null);
    (doc.variants || []).forEach(function (variant) { if (variant.sku !== doc.productid) emit(variant.sku, null); });
    (doc.former_skus || []).forEach(function (sku) { emit(sku, null); });
  }
  // With include_docs a document named in the value is read from a quorum of its copies, so a copy that
  // does not know the new place yet cannot make the product disappear.
  if (doc.type === "forward") [doc.productid].concat(doc.skus || []).forEach(function (id) { emit(id, { _id: doc.moved_to }); });
}
