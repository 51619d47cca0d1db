function (doc) {
  if (doc._conflicts && (doc.type === "product" || doc.type === "movement" || doc.type === "settlement")) {
    emit(doc.type, doc._conflicts);
  }
}
