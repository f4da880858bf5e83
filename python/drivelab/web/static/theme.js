// Runs before anything is drawn, so that no page flashes in the other scheme.
(() => {
  const kept = localStorage.getItem("drivelab.theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
})();
