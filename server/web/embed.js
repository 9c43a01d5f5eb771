// One line on another site shows a leaderboard there, in a frame that is nobody: it has no cookie, no storage and no origin of ours.
//   <script src="https://…/embed.js" data-board="states-relaxed/wins/week" data-count="10" data-theme="dark" async></script>
(() => {
  const script = /** @type {HTMLScriptElement | null} */ (document.currentScript);
  if (!script) return;
  const from = new URL("embed/board.html", script.src);
  const frame = document.createElement("iframe");
  const wished = () => {
    const { board = "states-relaxed/wins/all", count = "10", theme = "auto" } = script.dataset;
    return `${from.href}#${new URLSearchParams({ board, count, theme })}`;
  };
  frame.title = script.dataset.title ?? "Leaderboard of Statecraft";
  // Without allow-same-origin nothing in it can be asked or done in the visitor's name.
  frame.setAttribute("sandbox", "allow-scripts allow-popups allow-popups-to-escape-sandbox");
  frame.referrerPolicy = "no-referrer";
  frame.style.cssText = "display:block;width:100%;border:0;height:20rem;color-scheme:normal";
  frame.src = wished();
  addEventListener("message", ({ source, data }) => {
    // The one thing it may say: how high it is, in pixels.
    if (source === frame.contentWindow && Number.isInteger(data?.statecraftHeight) && data.statecraftHeight <= 10_000) frame.style.height = `${data.statecraftHeight}px`;
  });
  new MutationObserver(() => {
    frame.src = wished(); // only what stands behind the # changes, so nothing is loaded again
  }).observe(script, { attributeFilter: ["data-board", "data-count", "data-theme"] });
  script.after(frame);
})();
