// Returns each text that is cut, broken inside a word, or overlaps another.
//
// A text is taken by its own lines, without the leading above and below the letters, and by what clips it on the way up.
// Sheets lie over keys, and keys over the rest.

() => {
  const HIDES = ["hidden", "clip"], LETTERS = 0.7;
  const isMark = (one) => one.matches("svg.marks");
  const isClipped = (one) => one !== null && (getComputedStyle(one).clipPath === "inset(50%)" || isClipped(one.parentElement));
  const seen = (one) => one.checkVisibility() && !isClipped(one) && !one.closest(".skip, .one-rem") && (isMark(one) || !one.closest("svg"));
  const nameOf = (one) => `${one.id ? "#" + one.id : one.getAttribute("class") || one.tagName}: ${one.textContent.trim().slice(0, 40)}`;
  const isBroken = (one) => [...one.childNodes].filter((node) => node.nodeType === 3).some((node) => [...node.data.matchAll(/[^\s/-]+/g)].some((word) => {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
  }));
  const linesOf = (one) => isMark(one) ? [one.getBoundingClientRect()] : [...one.childNodes].filter((node) => node.nodeType === 3 && node.data.trim()).flatMap((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()].filter((box) => box.width > 1).map(({ left, right, top, bottom }) => {
      const trim = (1 - LETTERS) * (bottom - top) / 2;
      return { left, right, top: top + trim, bottom: bottom - trim };
    });
  });
  const clipsOf = (one) => {
    const clips = [];
    for (let at = one; at !== null && at !== document.documentElement; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.display === "inline") continue;
      const box = at.getBoundingClientRect();
      const [x, y] = [style.overflowX, style.overflowY];
      if ([x, y].some((how) => how !== "visible")) clips.push({ box, x, y });
      if (style.position === "fixed") break;
    }
    return clips;
  };
  const layerOf = (one) => one.closest("dialog") !== null ? 2 : one.closest("#controls, #toast, #begin, [data-mode=page] #question") !== null ? 1 : 0;
  const cut = [], texts = [];
  for (const one of document.body.querySelectorAll("*")) {
    if (!seen(one)) continue;
    let lines = linesOf(one);
    if (lines.length === 0) continue;
    const clips = clipsOf(one), scrolls = clips.some(({ x }) => x === "auto" || x === "scroll");
    let isCut = !scrolls && lines.some((line) => line.left < -1 || line.right > innerWidth + 1);
    for (const { box, x, y } of clips) {
      const isOut = (line) => (HIDES.includes(x) && (line.left < box.left - 1 || line.right > box.right + 1)) || (HIDES.includes(y) && (line.top < box.top - 1 || line.bottom > box.bottom + 1));
      isCut ||= lines.some(isOut);
      lines = lines.map((line) => ({ left: Math.max(line.left, box.left), right: Math.min(line.right, box.right), top: Math.max(line.top, box.top), bottom: Math.min(line.bottom, box.bottom) }));
      lines = lines.filter((line) => line.right - line.left > 1 && line.bottom - line.top > 1);
    }
    if (isBroken(one)) cut.push(`broken ${nameOf(one)}`);
    if (isCut) cut.push(`cut ${nameOf(one)}`);
    texts.push({ one, lines, layer: layerOf(one) });
  }
  const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  const over = [];
  texts.forEach((a, at) => texts.slice(at + 1).forEach((b) => {
    if (a.layer !== b.layer || a.one.contains(b.one) || b.one.contains(a.one)) return;
    if (a.lines.some((line) => b.lines.some((other) => meets(line, other)))) over.push(`over ${nameOf(a.one)} / ${nameOf(b.one)}`);
  }));
  return [...cut, ...over];
}
