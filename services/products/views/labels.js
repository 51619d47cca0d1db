function (doc) {
  if (doc.type !== "product" || doc.hidden || !doc.translations) return;
  Object.keys(doc.translations).forEach(function (language) {
    var labels = doc.translations[language].labels || {};
    Object.keys(labels).forEach(function (text) { emit([language, text, labels[text]], null); });
  });
}
