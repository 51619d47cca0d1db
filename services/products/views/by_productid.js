function (doc) {
  if (doc.type === "product") emit(doc.productid, null);
  // With include_docs a document named in the value is read from a quorum of its copies, so a copy that
  // does not know the new place yet cannot make the product disappear.
  if (doc.type === "forward") emit(doc.productid, { _id: doc.moved_to });
}
