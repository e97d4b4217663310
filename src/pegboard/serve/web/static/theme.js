// Before anything is painted: light or dark, as it was chosen last; without a choice, as the system has it.
"use strict";

(() => {
  const root = document.documentElement;
  root.dataset.script = "on";
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // Storage may be forbidden; then nothing is remembered.
  }
})();
