function (doc) {
  var settled = ["product", "forward", "movement", "stocktotal", "settlement", "synonym", "searchredirect", "searchpin", "dailysearches"];
  if (doc._conflicts && settled.indexOf(doc.type) >= 0) {
    emit(doc.type, doc._conflicts);
  }
}
