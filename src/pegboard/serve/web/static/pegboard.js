// What every page has: light or dark, buttons that copy, the key that leads to the search, forms that say they are at work.
"use strict";

(() => {
  const root = document.documentElement;

  function themeToggle() {
    const button = document.querySelector("[data-theme-toggle]");
    if (!button) return;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const tell = () => button.setAttribute("aria-label", isDark() ? "Change to light" : "Change to dark");
    button.hidden = false;
    tell();
    system.addEventListener("change", tell);
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      tell();
      try {
        localStorage.setItem("theme", root.dataset.theme);
      } catch {
        // It holds for this page then.
      }
    });
  }

  function copyButtons() {
    if (!navigator.clipboard) return;
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    document.addEventListener("click", async (event) => {
      const button = event.target.closest("[data-copy]");
      if (!button) return;
      const label = button.textContent;
      try {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
      setTimeout(() => (button.textContent = label), 1500);
    });
  }

  function slashKey() {
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]")) return;
      event.preventDefault();
      const box = document.getElementById("query");
      if (box) {
        box.focus();
        box.select();
      } else if (document.querySelector(".places")) {
        location.assign("/ui/");
      }
    });
  }

  // A form that was sent is not sent twice, and says that it is at work.
  function busyForms() {
    document.addEventListener("submit", (event) => {
      const form = event.target;
      if (form.method !== "post" || event.defaultPrevented) return;
      if (form.dataset.busy) {
        event.preventDefault();
        return;
      }
      form.dataset.busy = "yes";
      const button = event.submitter;
      if (button) button.setAttribute("aria-busy", "true");
    });
    addEventListener("pageshow", () => {
      for (const form of document.querySelectorAll("form[data-busy]")) delete form.dataset.busy;
      for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
    });
  }

  // Ctrl+Enter sends what is being written.
  function sendKey() {
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      const form = event.target.closest("form");
      if (form && event.target.closest("textarea")) form.requestSubmit();
    });
  }

  // What unfolds to be written in is ready to be written in.
  function readyFields() {
    document.addEventListener(
      "toggle",
      (event) => {
        const field = event.target.open && event.target.matches(".edit") && event.target.querySelector("textarea, input[type=text]");
        if (field) field.focus();
      },
      true,
    );
  }

  themeToggle();
  copyButtons();
  slashKey();
  busyForms();
  sendKey();
  readyFields();
})();
