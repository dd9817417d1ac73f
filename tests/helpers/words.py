"""Words that a browser breaks between two lines."""

BROKEN = """selector => {
  const broken = [];
  for (const one of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    let text = "", places = [];
    for (let node; (node = walker.nextNode());) {
      if (node.nodeName === "WBR") {  // a place where names may be broken
        places.push(null);
        text += " ";
      }
      if (node.nodeType === Node.ELEMENT_NODE) continue;
      for (let at = 0; at < node.length; at++) places.push([node, at]);
      text += node.data;
    }
    for (const { 0: word, index } of text.matchAll(/\\w+/g)) {
      const range = document.createRange();
      range.setStart(...places[index]);
      const [last, at] = places[index + word.length - 1];
      range.setEnd(last, at + 1);
      const lines = new Set([...range.getClientRects()].filter(box => box.width).map(box => Math.round(box.bottom)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
}"""
"""The words, letters with digits and underscores, that go over several lines in the elements of a selector."""
